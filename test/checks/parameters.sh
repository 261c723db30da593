#!/usr/bin/env bash
# parameters.sh COMMAND [FROM [TO]] runs the notebooks with the sets of parameters in parameters.txt, off their default
# path: lines FROM to TO, by default all. Each must end well, or with one line that names a parameter or its value; a
# failed expectation (cell.Expect) is neither. It prints a line for each and exits with 1 if one is wrong.
set -u -o pipefail
command=$(realpath "$1")
cd "$(dirname "$0")/../.." || exit 1
out=$(mktemp -d) && trap 'rm -rf "$out"' EXIT
wrong=0
while read -r notebook sets; do
  given=()
  for set in $sets; do given+=(-p "$set"); done
  start=$SECONDS
  if "$command" run "notebooks/$notebook.ipynb" -o "$out/n.ipynb" --html "$out/n.html" "${given[@]}" >"$out/log" 2>&1; then
    echo "ok      $((SECONDS - start)) s  $notebook $sets"
    continue
  fi
  line=$(tail -1 "$out/log")
  state=WRONG
  if ! grep -q ': got ' <<<"$line"; then
    for set in $sets; do
      for word in "${set%%=*}" $(tr ',=/' '   ' <<<"${set#*=}"); do
        grep -qiwF -- "$word" <<<"${line#*failed: }" && state="named"
      done
    done
  fi
  [ "$state" = named ] || wrong=$((wrong + 1))
  echo "$state   $((SECONDS - start)) s  $notebook $sets: $line"
done < <(sed -n "${2:-1},${3:-\$}p" test/checks/parameters.txt)
echo "$wrong wrong"
[ "$wrong" = 0 ]
