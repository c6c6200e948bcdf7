"""Whether an object is as it is wanted. mismatch() says what is not, as `path: why`, or "".

  { key: wanted }    those keys are as wanted; others do not matter. null: the key is absent.
  [ wanted, ... ]    as many items, each as wanted, in this order
  "~text"            a string that holds the text
  "*"                something that is not empty
  { count: N }       a list or mapping of that length, and nothing else
  conditions: { Ready: "False Creating: text" }    of a list of conditions: status, reason, and a part of the message"""


def condition(conditions, kind, wanted):
    found = next((c for c in conditions or [] if c.get("type") == kind), None)
    if wanted is None:
        return f" is {found}, and should be absent" if found else ""
    if not found:
        return " is absent"
    head, _, text = str(wanted).partition(": ")
    words = head.split()
    got = f"{found.get('status')} {found.get('reason')}: {found.get('message', '')}"
    if words[0] != found.get("status") or words[1:2] not in ([], [found.get("reason")]) or text not in found.get("message", ""):
        return f" is {got!r}, and should be {wanted!r}"
    return ""


def mismatch(wanted, got, path=""):
    if wanted is None:
        return f"{path} is {got!r}, and should be absent" if got is not None else ""
    if wanted == "*":
        return "" if got not in (None, "", [], {}) else f"{path} is empty"
    if isinstance(wanted, str) and wanted.startswith("~"):
        return "" if isinstance(got, str) and wanted[1:] in got else f"{path} is {got!r}, and should hold {wanted[1:]!r}"
    if isinstance(wanted, dict) and set(wanted) == {"count"}:
        return "" if len(got or []) == wanted["count"] else f"{path} has {len(got or [])} items, and should have {wanted['count']}: {got}"
    if isinstance(wanted, dict) and path.endswith(".conditions"):
        for k, w in wanted.items():
            why = condition(got, k, w)
            if why:
                return f"{path}.{k}{why}"
        return ""
    if isinstance(wanted, dict) and isinstance(got, (dict, type(None))):
        got = got or {}
        return next((why for k, w in wanted.items() if (why := mismatch(w, got.get(k), f"{path}.{k}"))), "")
    if isinstance(wanted, list) and isinstance(got, list):
        if len(wanted) != len(got):
            return f"{path} has {len(got)} items, and should have {len(wanted)}: {got}"
        return next((why for i, w in enumerate(wanted) if (why := mismatch(w, got[i], f"{path}[{i}]"))), "")
    return "" if wanted == got else f"{path} is {got!r}, and should be {wanted!r}"
