body="$RUNNER_TEMP/comment.md"
shopt -s nullglob
parts=("$FOLDER"/comment/*.md)
{
  printf '%s\n' "$MARKER"
  if [ ${#parts[@]} -gt 0 ]; then
    # GitHub takes 65,536 characters of a comment.
    LC_ALL=C awk '
      FNR == 1 && NR > 1 { print "" }
      { used += length($0) + 1 }
      used > 60000 {
        print fence "\n**Cut here: a comment has no room for more.**"
        exit
      }
      /^```/ { fence = fence ? "" : substr($0, 1, match($0, /[^`]/) - 1) "\n" }
      { print }' "${parts[@]}"
  else
    printf '## Judge datasheet\n\n**Nothing was measured**\n'
  fi
  printf '\n%s. Every number: [summary of the run](%s)' \
    "$ENDED" "$GITHUB_SERVER_URL/$GITHUB_REPOSITORY/actions/runs/$GITHUB_RUN_ID"
  if [ -n "$ARTIFACT" ]; then
    printf ', [datasheet and JUnit report](%s)' "$ARTIFACT"
  fi
  printf '.\n'
} >"$body"
comments="repos/$GITHUB_REPOSITORY/issues/$PULL_REQUEST/comments"
failed() {
  # Some tokens may read only: the checks count all the same.
  echo "::warning title=Judge datasheet::the pull request could not be commented on"
  exit 0
}
# Its own comment alone: anyone may write one that begins with the marker.
LOGIN=$(gh api graphql --raw-field query='{viewer{login}}' --jq .data.viewer.login) || failed
export LOGIN
own=$(gh api --paginate "$comments?per_page=100" \
  --jq '.[] | select(.user.login == env.LOGIN and (.body | startswith(env.MARKER))) | .id') \
  || failed
own=$(head -n 1 <<<"$own")
if [ -n "$own" ]; then
  gh api --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$own" \
    --field "body=@$body" --silent || failed
else
  gh api --method POST "$comments" --field "body=@$body" --silent || failed
fi
