/** How this browser shows the page. Kept in this browser. */
import type { ReactNode } from "react";
import { usePreference } from "../preferences.ts";
import { NOTICES, useNoticeChoice } from "../shell/notices.ts";
import { Choice } from "./choice.tsx";

/** The card of the settings that this browser keeps for the page. */
export function PageCard(): ReactNode {
  const [theme, setTheme] = usePreference<"system" | "light" | "dark">("theme", "system");
  const [colours, setColours] = usePreference<"green-red" | "blue-orange">("diff", "green-red");
  const [density, setDensity] = usePreference<"roomy" | "compact">("density", "roomy");
  const [keys, setKeys] = usePreference<"on" | "off">("keys", "on");
  return (
    <section className="b-card b-in" aria-label="This page">
      <h2>This page</h2>
      <Choice
        words="Theme"
        value={theme}
        choices={[
          ["system", "System"],
          ["light", "Light"],
          ["dark", "Dark"],
        ]}
        onChange={(next) => {
          setTheme(next);
          document.documentElement.dataset["theme"] = next;
        }}
      />
      <Choice
        words="Colours of differences"
        about="Signs stand beside the colours in either set."
        value={colours}
        choices={[
          ["green-red", "Green and red"],
          ["blue-orange", "Blue and orange"],
        ]}
        onChange={(next) => {
          setColours(next);
          document.documentElement.dataset["diff"] = next;
        }}
      />
      <Choice
        words="Rows"
        value={density}
        choices={[
          ["roomy", "Comfortable"],
          ["compact", "Compact"],
        ]}
        onChange={setDensity}
      />
      <Choice
        words="Single letters as shortcuts"
        about="In lists and differences; press ? there to see them."
        value={keys}
        choices={[
          ["on", "On"],
          ["off", "Off"],
        ]}
        onChange={setKeys}
      />
      <Notices />
    </section>
  );
}

/** Which news the browser may tell while the page is in the background. */
function Notices(): ReactNode {
  const { chosen, toggle, refusal } = useNoticeChoice();
  return (
    <div className="b-way" role="group" aria-label="Tell me in the browser when">
      <span className="b-strong">Tell me in the browser when</span>
      <div className="b-col b-gap4">
        {NOTICES.map(({ name, words }) => (
          <label key={name} className="b-choice">
            <input
              type="checkbox"
              className="b-box"
              checked={chosen.has(name)}
              onChange={() => void toggle(name)}
            />
            {words}
          </label>
        ))}
      </div>
      <p className="b-small b-muted" role="status">
        {refusal ?? "Asks the browser for permission the first time. Nothing leaves this machine."}
      </p>
    </div>
  );
}
