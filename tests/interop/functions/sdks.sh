# The robots function on the SDKs of others, by name and version in the directories beside it. Source it after lib.sh.
command -v python3 >/dev/null || { echo "tests/interop/functions needs Python 3: a peer is on the Python SDK" >&2; exit 1; }
command -v npm >/dev/null || { echo "tests/interop/functions needs Node.js and npm: a peer is on the TypeScript SDK" >&2; exit 1; }

install_python() {
        python3 -m venv . && bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.txt
}
install_typescript() {
        npm ci --silent --ignore-scripts && npx --no-install tsc
}

peer robots-go tests/interop/functions/go .
go=$peer
peer_tree robots-python tests/interop/functions/python install_python
python="$peer/bin/python $peer/robots.py"
peer_tree robots-typescript tests/interop/functions/typescript install_typescript
typescript="node $peer/dist/robots.js"
