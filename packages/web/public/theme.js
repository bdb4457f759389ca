// Blocks the first paint for a moment, so that a chosen theme is there from the start.
for (const name of ["theme", "diff"]) {
  const chosen = localStorage.getItem(`belay-${name}`);
  if (chosen !== null) document.documentElement.dataset[name] = chosen;
}
