"""What the hostile registry has, at full size, and what must be said about it."""

import dataclasses

from hostile import (INDEX, LAYER, MANIFEST, Blob, Image, asking, basic, endless, grudging, gzip_bomb, json_blob, many_entries,
                     redirecting, renamed, tar_of, token_server, trickling, truncated, wrong, zipped, zstd_bomb, zstd_frame)

MIB = 1 << 20
GIB = 1 << 30
PLANE_MEMORY = 256 * MIB
PLANE_LEFT = 64 * MIB


class Failed(Exception):
    pass


@dataclasses.dataclass
class Case:
    name: str
    shows: str
    victim: str  # extract, pull or render
    image: Image
    says: tuple = ()  # besides the repository; None: it is served
    manner: object = None
    host: str = ""  # reached through the proxy
    max_memory: int = 48 * MIB
    max_disk: int = 0  # at any time; 0: not looked at
    max_left: int = MIB
    is_slow: bool = False
    in_plane: tuple = ()  # the words in a control plane, if it goes there too
    also: object = lambda registry: None
    authority: str = ""


GOOD = Case("good", "", "extract", Image(kind=b"Configuration"), None, in_plane=("Healthy=True",))


def once(shows, victims, says, image, **more):
    """The same image for several victims: CASE-VICTIM."""
    return [dict(shows=shows, victim=v, says=says, image=image, **more) for v in victims]


def layer_with(content):
    return Image(zipped(content), bare=True)


def deep_index(levels):
    image = Image()
    for _ in range(levels):
        image.top = json_blob({"schemaVersion": 2, "mediaType": INDEX, "manifests": [
            image.top.descriptor(INDEX, platform={"os": "linux", "architecture": "amd64"})]})
        image.manifests[image.top.digest] = image.top
    return image


def index_of_itself():
    """The index names a digest, and the registry has itself under it."""
    image = Image()
    target = "sha256:" + "a" * 64
    image.top = json_blob({"schemaVersion": 2, "mediaType": INDEX, "manifests": [
        {"mediaType": INDEX, "digest": target, "size": 1, "platform": {"os": "linux", "architecture": "amd64"}}]})
    image.manifests = {target: image.top, image.top.digest: image.top}
    return image


def layers(count):
    image = Image()
    return renamed(image, layers=[{"digest": "sha256:%064x" % i, "size": 1} for i in range(count)])


def claiming(size):
    """A layer whose size is a lie."""
    image = Image(Blob(b"x"), bare=True)
    return renamed(image, layers=[{**image.layers[0].descriptor(LAYER), "size": size}])


def lying(q):
    if q.kind != "manifests":
        return False
    q.say(200, b"".join(q.registry.images[q.repository].top.pieces()), Content_Type=MANIFEST, Docker_Content_Digest="sha256:" + "b" * 64)
    return True


def must(is_so, what):
    if not is_so:
        raise Failed(what)


def table(work):
    both, pulls = ("extract", "render"), ("extract", "pull", "render")
    random = open("/dev/urandom", "rb").read(2 * MIB)
    big = Image(zipped(tar_of(("package.yaml", random))), bare=True)
    bombs = {"gzip": lambda name: Image(gzip_bomb(name, 10 * GIB), bare=True), "zstd": lambda name: Image(zstd_bomb(name, 10 * GIB), bare=True)}
    files, directories = (Image(many_entries(1000000, kind, names), bare=True) for kind, names in ((b"0", 1000000), (b"5", 1000)))
    large = Image(Blob(lambda: [random] * 128), bare=True)

    return {
        # --- Digests and sizes ---
        "wrong-blob": once("a blob with another digest", pulls, ("the registry sent something else", "sha256:"), big, manner=wrong,
                           in_plane=("the registry sent something else",)),
        "wrong-manifest": once("a manifest with another digest than the registry says", pulls, ("the registry sent something else",), big, manner=lying),
        "truncated-blob": once("a blob that is cut off, again and again", pulls, ("the peer closed the connection", "blob sha256:"), big,
                               manner=truncated("blobs", 1000)),
        "truncated-manifest": once("a manifest that is cut off", both, ("/manifests/v1",), big, manner=truncated("manifests", 20)),
        "grudging": once("a few bytes for each request", pulls, ("blob sha256:",), big, manner=grudging(10)),
        "endless-blob": once("a blob without end", pulls, ("more than the", "blob sha256:"), big, manner=endless("blobs"), max_left=4 * MIB, max_disk=8 * MIB,
                             in_plane=("more than the",)),
        "endless-manifest": once("a manifest without end", pulls, ("/manifests/v1", "limit of 4194304 bytes"), big, manner=endless("manifests", b" " * 65536),
                                 in_plane=("limit of 4194304 bytes",)),
        "huge-claim": once("a layer of a petabyte", pulls, ("layers[0]: size is 1125899906842624 bytes",), claiming(1 << 50)),
        "many-claims": once("layers of 8 TiB together", pulls, ("bytes of layers",),
                            renamed(Image(), layers=[{"digest": "sha256:%064x" % i, "size": 8 * GIB} for i in range(1000)])),
        "large-layer": once("a layer of 256 MiB that is no archive", both, ("tar: a header's checksum is wrong",), large, max_left=260 * MIB),
        "large-file": once("a layer of 256 MiB for a file", ("pull",), None, large),
        # --- Bombs ---
        **{f"{codec}-bomb": once("10 GiB of zeros", both, ("not an honest archive",), bomb("x"), max_disk=200 * MIB, max_left=16 * MIB,
                                 in_plane=("not an honest archive",)) for codec, bomb in bombs.items()},
        **{f"{codec}-bomb-yaml": once("10 GiB of zeros as package.yaml", ("extract",), ("package.yaml has 10737418240 bytes",), bomb("package.yaml"))
           for codec, bomb in bombs.items()},
        "zstd-window": once("a zstd layer that wants 2 GiB of memory", both, ("too much memory",), Image(Blob(zstd_frame(31, b"x" * 512)), bare=True)),
        # --- Archives ---
        "dots": once("a path with ..", ("render",), ('entry "../../../outside/x"', 'has ".."'), layer_with(tar_of(("../../../outside/x", b"x")))),
        "dots-inside": once("a path with .. inside", ("render",), ('entry "a/../../../../outside/x"', 'has ".."'),
                            layer_with(tar_of(("a/", "5"), ("a/../../../../outside/x", b"x")))),
        "absolute": once("an absolute path", ("render",), ("is absolute",), layer_with(tar_of((f"{work}/absolute-render/outside/x", b"x")))),
        "link-out": once("a link out and a file behind it", ("render",), ("entry",),
                         layer_with(tar_of(("out", "2", f"{work}/link-out-render/outside"), ("out/x", b"x"), ("out/kept", b"changed"), ("end", "3")))),
        "link-up": once("a link up and a file behind it", ("render",), ("entry",),
                        layer_with(tar_of(("out", "2", "../../../../outside"), ("out/x", b"x"), ("out/.wh.kept", b""), ("end", "3")))),
        "hard-link-out": once("a hard link to a file outside", ("render",), ("entry \"x\" (a hard link)", "its target has \"..\""),
                              layer_with(tar_of(("x", "1", "../../../../outside/kept")))),
        "character-device": once("a character device", ("render",), ('entry "null"', "devices"), layer_with(tar_of(("null", "3")))),
        "block-device": once("a block device", ("render",), ('entry "disk"', "devices"), layer_with(tar_of(("disk", "4")))),
        "pipe": once("a named pipe", ("render",), ('entry "pipe"', "named pipes"), Image(zipped(tar_of(("pipe", "6")))), in_plane=("named pipes",)),
        "files": once("a million files", ("extract",), ("more than 500000 entries",), files),
        "directories": once("a million entries", ("render",), ("more than 500000 entries",), directories, max_left=32 * MIB),
        # --- Manifests ---
        "layers": once("10^5 layers", both, ("limit of 4194304 bytes",), layers(100000), in_plane=("limit of 4194304 bytes",)),
        "layers-short": once("as many layers as fit", both, ("layers; the limit is 1000",), layers(40000), in_plane=("layers; the limit is 1000",)),
        "deep-index": once("indexes of indexes", both, ("indexes name indexes more than 3 levels deep",), deep_index(50)),
        "index-of-itself": once("an index that names itself", both, ("the registry sent something else",), index_of_itself(),
                                in_plane=("the registry sent something else",)),
        # --- Slow ---
        "slow-blob": once("a blob of one byte per second", ("extract", "render"), ("less than 1024 bytes per second", "blob sha256:"), big,
                          manner=trickling("blobs", MIB), is_slow=True),
        "slow-manifest": once("a manifest of one byte per second", ("extract",), ("less than 1024 bytes per second",), big,
                              manner=trickling("manifests"), is_slow=True),
    }


def all_cases(registry, work, authority):
    registry.manners["token-server"] = token_server
    found = []
    for name, variants in table(work).items():
        for v in variants:
            found.append(Case(name=f"{name}-{v['victim']}", authority=authority, **v))
    return found + elsewhere(registry, authority)


def elsewhere(registry, authority):
    """Where requests and credentials go."""
    here = ["http://127.0.0.1:PORT", "https://127.0.0.1:PORT", "https://localhost:PORT", "https://localhost.:PORT", "https://a.localhost:PORT",
            "https://127.1:PORT", "https://2130706433:PORT", "https://0x7f.1:PORT", "https://0.0.0.0:PORT", "https://0:PORT", "https://[::1]:PORT",
            "https://[::]:PORT", "https://[::ffff:127.0.0.1]:PORT"]
    port = registry.other.split(":")[1]
    package = Image()

    def case(name, shows, says=None, **more):
        return Case(name=name, shows=shows, victim="extract", image=package, says=says, authority=authority, **more)

    def to_here(place):
        return lambda q: place.replace("PORT", port) + "/v2/x"

    cases = [case(f"redirect-here-{i}", "a redirect to this machine: " + place, ("redirect", "this machine" if "http://" not in place else "redirects"),
                  host="registry.example", manner=basic(redirecting(to_here(place))),
                  also=lambda r: must(not r.saw(place="other", path="/v2/x"), "it followed the redirect")) for i, place in enumerate(here)]
    cases += [case(f"token-here-{i}", "a token server on this machine: " + place, ("token server",), host="registry.example",
                   manner=asking(to_here(place)),
                   also=lambda r: must(not r.saw(place="other", path="/v2/x"), "it asked for a token")) for i, place in enumerate(here)]
    return cases + [
        case("redirect-host", "a redirect to another host gets no credentials", host="registry.example",
             manner=basic(redirecting(lambda q: "https://storage.example" + q.path + "?moved")),
             also=lambda r: must(r.saw(host="storage.example", path="redirect-host.*moved", authorization="^$"), "it did not get there")),
        case("redirect-port", "nor does another port", manner=basic(redirecting(lambda q: f"http://{registry.other}{q.path}?moved")),
             also=lambda r: must(r.saw(place="other", path="redirect-port.*moved", authorization="^$"), "it did not get there")),
        case("redirect-plain", "a redirect to a place without TLS", ("without TLS",), host="registry.example",
             manner=basic(redirecting(lambda q: "http://storage.example" + q.path + "?moved"))),
        case("redirect-round", "redirects without end", ("more than 10 redirects",), manner=redirecting(lambda q: q.path)),
        case("token-scope", "a token for what was not asked", manner=asking(lambda q: f"http://{registry.main}/token-server"),
             also=lambda r: must(r.saw(path="token-server.*scope=repository%3Atoken-scope%3Apull|token-server.*scope=repository:token-scope:pull")
                                 and not r.saw(path="catalog"), "it asked for the registry's scope")),
        case("token-elsewhere", "a token server without TLS on another host", ("token server without TLS",),
             manner=asking(lambda q: "http://tokens.example/token-server")),
        case("token-refused", "tokens that are never good enough", ("status 401",),
             manner=lambda q: q.name != "/token-server" and (q.say(401, WWW_Authenticate=f'Bearer realm="http://{registry.main}/token-server"') or True)),
    ]
