#!/usr/bin/env python3
"""Writes the tarball of an image with one layer, as `docker save` does.
    image.py OUT DIRECTORY ENTRYPOINT...   the files below DIRECTORY; owners are root, times are 1970
"""
import gzip
import hashlib
import io
import json
import os
import sys
import tarfile


def plain(info):
    info.uid = info.gid = info.mtime = 0
    info.uname = info.gname = ""
    return info


out, directory, entrypoint = sys.argv[1], sys.argv[2], sys.argv[3:]
layer = io.BytesIO()
with tarfile.open(fileobj=layer, mode="w", dereference=False) as tar:
    for name in sorted(os.listdir(directory)):
        tar.add(os.path.join(directory, name), name, filter=plain)
packed = gzip.compress(layer.getvalue(), 1, mtime=0)
config = json.dumps({
    "architecture": "amd64", "os": "linux", "config": {"Entrypoint": entrypoint, "User": "2000"},
    "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(layer.getvalue()).hexdigest()]},
}).encode()
names = "sha256:" + hashlib.sha256(config).hexdigest(), hashlib.sha256(packed).hexdigest() + ".tar.gz"
manifest = json.dumps([{"Config": names[0], "RepoTags": None, "Layers": [names[1]]}]).encode()
with tarfile.open(out, "w") as tar:
    for name, data in zip((*names, "manifest.json"), (config, packed, manifest)):
        info = tarfile.TarInfo(name)
        info.size = len(data)
        tar.addfile(info, io.BytesIO(data))
