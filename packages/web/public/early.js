// Blocks the first paint for a moment, so that a chosen theme is there from the start.
for (const name of ["theme", "diff"]) {
  const chosen = localStorage.getItem(`belay-${name}`);
  if (chosen !== null) document.documentElement.dataset[name] = chosen;
}

// [R1933] The first rows are asked for while the page's own script is still being read. The client takes the answer where
// it asks the same; what it asks is made in history-filter.ts and first-rows.ts.
{
  const key = sessionStorage.getItem("belay-key");
  const [, workspace] = /^\/w\/([^/]+)\/$/.exec(location.pathname) ?? [];
  if (key !== null && workspace !== undefined && location.hash === "") {
    const address = new URLSearchParams(location.search);
    const query = new URLSearchParams({ workspace });
    const isFlat = localStorage.getItem("belay-rows") === "everything";
    const chosen = localStorage.getItem(isFlat ? "belay-changed-everything" : "belay-changed-turns");
    const isOnlyChanged = chosen === null ? !isFlat : chosen === "only";
    const words = [address.get("q"), isFlat && isOnlyChanged ? "has:changes" : ""].filter(Boolean).join(" ");
    if (words) query.set("q", words);
    if (address.get("thread")) query.set("thread", address.get("thread"));
    if (isFlat) query.set("flat", "1");
    else if (!isOnlyChanged || (!address.get("q") && !address.get("thread"))) query.set("all", "1");
    query.set("limit", "100");
    const path = `/api/history?${query}`;
    const answer = fetch(path, { headers: { authorization: `Bearer ${key}` } });
    // the one that takes it hears of a failure
    answer.catch(() => undefined);
    globalThis.belayEarly = { path, key, answer };
  }
}
