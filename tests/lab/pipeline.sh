#!/usr/bin/env bash
# The GitHub Action and the GitLab template: their files against the vendors' schemas, their steps in a shell. The
# container image: built and run.
. "$(dirname "$0")/../common.bash"
root=$PWD
have "pipelines" curl python:check_jsonschema || exit 0

valid() { check-jsonschema --builtin-schema "vendor.$1" "${@:2}"; }
try "the action is valid by GitHub's schema" valid github-actions action.yml
try "the template is valid by GitLab's schema" valid gitlab-ci --data-transform gitlab-ci packaging/pipeline/gitlab.yml

# A release of the program under test, as `make release` lays it out.
cd "$here" || exit 1
version=$("$program" --version | sed -n 's/^latlab \([0-9.]*\).*/\1/p')
machine=$(. "$root/scripts/env.sh"; awk -v machine="$(uname -m)" '$4 == machine { print $1 }' <<<"$architectures")
release=$here/releases/v$version
mkdir -p "$release"
ln "$program" "$release/latlab-$version-linux-$machine" 2>/dev/null ||
    cp "$program" "$release/latlab-$version-linux-$machine"
cp "$root/packaging/pipeline/pipeline.sh" "$release/latlab-pipeline.sh"
(cd "$release" && sha256sum ./* | sed 's,\./,,' >SHA256SUMS)
sheet() {
    printf '%s\n' 'repeats = 4' '[defaults]' 'cycles = 100' 'warm-up = "0s"' "deadline = \"$1\"" 'threads = 1' \
        'telemetry = "off"' \
        "policy = \"other\"" '[[scenario]]' 'name = "idle"' >"$here/sheet.toml"
}
export GITHUB_ACTION_PATH=$root GITHUB_STEP_SUMMARY=$here/step-summary GITHUB_OUTPUT=$here/outputs RUNNER_OS=Linux \
    RUNNER_ARCH=X64
action() {
    : >"$GITHUB_STEP_SUMMARY"
    python3 "$root/tests/lab/pipeline.py" action "$root/action.yml" sheet=sheet.toml "releases=file://$here/releases" \
        "version=$version" "$@" >"$here/steps.sh" && sh "$here/steps.sh"
}

first_job() {
    sheet 10s
    action || return 1
    expect "the program of the release" [ -x latlab-bin/latlab ] &&
        expect "the table in the job's summary" \
            grep -q '^| idle (kernel [^|]*, deadline 10 s) | pass |' "$GITHUB_STEP_SUMMARY" &&
        expect "that nothing was there to compare with" \
            grep -q '^No campaign of the main branch' "$GITHUB_STEP_SUMMARY" &&
        expect "a test case of the row" grep -q '<testcase .*idle' latlab-results/junit.xml &&
        expect "a baseline of one campaign" [ "$(ls latlab-baseline | wc -l)" = 1 ]
}
try "the first job of the main branch measures, and keeps its campaign" first_job

second_job() {
    action keep=1 margin=1000% || return 1
    expect "a comparison of both sides" grep -q 'Base: .*Candidate: ' "$GITHUB_STEP_SUMMARY" &&
        expect "metrics as test cases" grep -q '<testcase .*p50' latlab-results/compare.xml &&
        expect "the newest campaign alone in the baseline" [ "$(ls latlab-baseline)" = "$(ls latlab-results/runs)" ]
}
try "the next job compares itself with it; the baseline keeps the newest" second_job

fails() {
    sheet 1ns
    local code=0
    action || code=$?
    expect "exit code 1, not $code" [ "$code" = 1 ] &&
        expect "a summary that says so" grep -q 'fail' latlab-results/summary.md &&
        expect "a baseline without it" [ "$(ls latlab-baseline)" != "$(ls latlab-results/runs)" ]
}
try "a missed deadline fails the job, and its campaign is not kept" fails

refused() {
    local code=0
    sheet 10s
    (
        mkdir cut && cd cut || exit 9
        cp -r ../releases . && printf x >>"releases/v$version/SHA256SUMS" &&
            sed -i 's/^0/1/; t; s/^./0/' "releases/v$version/SHA256SUMS"
        LATLAB_RELEASES=file://$PWD/releases LATLAB_VERSION=$version sh "$root/packaging/pipeline/pipeline.sh" fetch
    ) || code=$?
    expect "exit code 3, not $code" [ "$code" = 3 ] && expect "no program" [ ! -e cut/latlab-bin/latlab ]
}
try "a program without its release's checksum is not run" refused

wrong_sheet() {
    local code=0
    LATLAB_PROGRAM=$program LATLAB_SHEET=missing.toml sh "$root/packaging/pipeline/pipeline.sh" measure || code=$?
    expect "exit code 2, not $code" [ "$code" = 2 ]
}
try "a sheet that is not there ends with 2" wrong_sheet

on_gitlab() {
    sheet 10s
    rm -rf latlab-bin latlab-results latlab-baseline
    python3 "$root/tests/lab/pipeline.py" gitlab "$root/packaging/pipeline/gitlab.yml" >"$here/job.sh" || return 1
    env "LATLAB_RELEASES=file://$here/releases" \
        "LATLAB_VERSION=$version" LATLAB_SHEET=sheet.toml CI_COMMIT_BRANCH=main \
        CI_DEFAULT_BRANCH=main sh "$here/job.sh" >"$here/job.log" || { cat "$here/job.log"; return 1; }
    expect "the table in the job's log" grep -q '^| idle (kernel [^|]*, deadline 10 s) | pass |' "$here/job.log" &&
        expect "a baseline" [ "$(ls latlab-baseline | wc -l)" = 1 ]
}
try "the job of the GitLab template runs" on_gitlab

# A container has only the program, so only the static one runs there.
in_container() {
    local stores=(--root "$here/images" --runroot "$here/run" --storage-driver vfs) container code=0
    buildah "${stores[@]}" build --quiet --isolation chroot --file "$root/packaging/Containerfile" --tag latlab \
        --build-arg "PROGRAM=latlab-$version-linux-$machine" "$release" || return 1
    container=$(buildah "${stores[@]}" from latlab) && mkdir -p inside || return 1
    buildah "${stores[@]}" run --isolation chroot --cap-add CAP_SYS_NICE --cap-add CAP_IPC_LOCK \
        --volume "$here/inside:/runs" \
        "$container" -- /usr/bin/latlab run --cycles 100 --deadline 10s --name contained --quiet || code=$?
    buildah "${stores[@]}" rm --all >/dev/null
    buildah "${stores[@]}" rmi --all --force >/dev/null
    expect "exit code 0, not $code" [ "$code" = 0 ] &&
        expect "a run outside of the container" "$program" verify inside/*_contained
}
if [ "$(id -u)" != 0 ]; then
    echo "SKIPPED: the container: needs root"
elif ! file -L "$program" | grep -Eq 'statically linked|static-pie linked'; then
    echo "SKIPPED: the container: $program is not static"
elif have "the container" buildah; then
    try "the program measures in a container that has nothing else" in_container
fi

exit $status
