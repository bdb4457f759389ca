/** The scripts that make shells complete `belay`. All of them ask `belay complete`, so they never grow old. */

/** The shells that have one. */
export const SHELLS = ["bash", "zsh", "fish"] as const;

/** One of these shells. */
export type Shell = (typeof SHELLS)[number];

/** By this line a script is recognised as ours. */
export const SCRIPT_MARK = "# Completion of belay, made by belay itself.";

/**
 * Bash splits words at characters such as "@" and "=" and replaces only what comes after them: hence the words are
 * taken from the line, and what bash will keep is cut off.
 */
const BASH = `${SCRIPT_MARK}
_belay() {
  local line=\${COMP_LINE:0:COMP_POINT} full kept candidate word files=
  local -a words
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  full=\${words[\${#words[@]}-1]}
  kept=\${full%"\${full##*["@=:"]}"}
  [[ $COMP_WORDBREAKS == *"\${kept: -1}"* ]] || kept=
  COMPREPLY=()
  while IFS= read -r candidate; do
    word=\${candidate%%$'\\t'*}
    if [[ $word == :files ]]; then files=1; continue; fi
    word=\${word#"$kept"}
    [[ -z $word ]] && continue
    printf -v word %q "$word"
    COMPREPLY+=("$word")
  done < <(belay complete -- "\${words[@]:1}" 2>/dev/null)
  if [[ -n $files ]]; then
    compopt -o filenames 2>/dev/null
    while IFS= read -r candidate; do COMPREPLY+=("$candidate"); done < <(compgen -f -- "\${full##*=}")
  fi
}
complete -F _belay belay
`;

const ZSH = `#compdef belay
${SCRIPT_MARK}
_belay() {
  local -a lines described
  local line word files
  lines=("\${(@f)$(belay complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  for line in $lines; do
    word=\${line%%$'\\t'*}
    if [[ $word == :files ]]; then files=1; continue; fi
    [[ -z $word ]] && continue
    if [[ $line == *$'\\t'* ]]; then described+=("\${word//:/\\\\:}:\${line#*$'\\t'}")
    else described+=("\${word//:/\\\\:}"); fi
  done
  (( $#described )) && _describe -V belay described
  [[ -n $files ]] && _files
  return 0
}
if [[ $funcstack[1] == _belay ]]; then _belay "$@"; else compdef _belay belay; fi
`;

const FISH = `${SCRIPT_MARK}
function __belay_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in (belay complete -- $words[2..-1] 2>/dev/null)
        if test "$line" = :files
            __fish_complete_path (commandline -ct)
        else
            echo $line
        end
    end
end
complete -c belay -f -k -a '(__belay_complete)'
`;

/** The script of each shell. */
export const COMPLETION_SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
