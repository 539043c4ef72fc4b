# SPDX-License-Identifier: Apache-2.0
# Functions that the action's steps share. Sourced by bash.

# Message and properties of a workflow command, escaped as the runner expects.
escape_message() {
    local text=${1//'%'/'%25'}
    text=${text//$'\r'/'%0D'}
    printf '%s' "${text//$'\n'/'%0A'}"
}

# output NAME VALUE: sets a step's output; a value may have several lines.
output() {
    local end
    end=$(random_word)
    printf '%s<<%s\n%s\n%s\n' "$1" "$end" "$2" "$end" >>"$GITHUB_OUTPUT"
}

# A token that nobody who writes to the log or into a value can guess.
random_word() { od -An -N16 -tx1 /dev/urandom | tr -d ' \n'; }

# fenced FILE BYTES: the file's first lines as a code block that its content cannot close.
fenced() {
    local shown fence='```' total kept
    shown=$(mktemp "${RUNNER_TEMP:-/tmp}/perfgate-fenced-XXXXXX")
    # As many whole lines as fit, without progress and binary output.
    LC_ALL=C tr -d '\000-\010\013-\037\177' <"$1" | LC_ALL=C sed '/^\[[0-9]*\/[0-9]*\] /d' >"$shown.all"
    LC_ALL=C awk -v limit="$2" '{ used += length($0) + 1; if (used > limit) exit; print }' "$shown.all" >"$shown"
    while grep -qF -- "$fence" "$shown"; do fence+='`'; done
    printf '%stext\n' "$fence"
    cat -- "$shown"
    printf '%s\n' "$fence"
    total=$(wc -l <"$shown.all")
    kept=$(wc -l <"$shown")
    [ "$total" -le "$kept" ] || printf '\n%d more lines are in the log.\n' "$((total - kept))"
    rm -f -- "$shown" "$shown.all"
}

# The meaning of an exit code, as in README.md.
meaning() {
    case $1 in
        0) echo 'every case passed, improved, or was skipped for a stated reason' ;;
        1) echo 'a metric regressed, a result is wrong, or a case of the baseline is missing' ;;
        2) echo 'usage or invalid input; nothing was measured' ;;
        3) echo 'something could not be measured' ;;
        4) echo 'inconclusive or no baseline, which fails by policy' ;;
        130) echo 'interrupted' ;;
        *) echo 'perfgate did not finish' ;;
    esac
}
