#!/usr/bin/env bash
# Records the language models whose recordings come with the package: hours on two cores.
# In an environment with the extra `local`; the files of the models are those that
# docs/local-models.md names: smollm2-135m is fetched here, qwen2.5-coder-0.5b has to be there.
# What is recorded already is not asked again; to record anew, delete the cassette first.
set -euo pipefail
cd "$(dirname "$0")/.."

record() { # a judge, and the suites that it is asked
    local judge=$1 suite status
    shift
    for suite in "$@"; do
        status=0
        pytest -q -p no:cacheprovider --judge-mode record --judge-cassettes cassettes \
            --judge-name "$judge" --judge-suite "$suite" || status=$?
        if [ "$status" -gt 1 ]; then exit "$status"; fi # 1: its checks fail, as they do
    done
}

suites=(
    vacuum@quick coherence@quick factuality@quick preference@quick relevance@quick
    ladder-fine ladder@quick criterion@quick
)

judgesense serve --get smollm2-135m
record smollm2-135m "${suites[@]}" probe@quick rubric depth@quick
record smollm2-135m-free-text vacuum@quick
for paper in jss datasheet; do
    judgesense paper "$paper" --quick --judge-name smollm2-135m --judge-mode record --judge-cassettes cassettes
done
record qwen2.5-coder-0.5b "${suites[@]}" vacuum rubric@quick probe@quick
for judge in smollm2-135m qwen2.5-coder-0.5b; do
    judgesense why coherence --leave-out --judge-name "$judge" --items 9 \
        --judge-mode record --judge-cassettes cassettes
done
record qwen2.5-coder-0.5b-logprobs vacuum@quick coherence@quick
