"""A small strict reader of Newick, by the grammar of its authors: one tree, quotes doubled, comments in brackets."""

from __future__ import annotations


def read(text):
    """Return names and depths of the leaves, and for every inner node its leaves and its comments.

    Refuses whatever the grammar does not have: a second tree, text after the semicolon, unbalanced parentheses, names
    with blanks or brackets outside quotes. An underscore outside quotes is a blank, as the grammar says.
    """
    at = 0
    open_nodes = []
    leaves, inner = {}, []
    done = None

    def word():
        nonlocal at
        if text[at] == "'":
            found, at = [], at + 1
            while True:
                if text[at] == "'" and text[at + 1 : at + 2] == "'":
                    found.append("'")
                    at += 2
                elif text[at] == "'":
                    at += 1
                    return "".join(found)
                else:
                    found.append(text[at])
                    at += 1
        begin = at
        while text[at] not in "()[]{}/\\,;:=*'\"`+-<> \t\r\n" or (text[at] in '+-*/<>={}`"\\' and at > begin):
            at += 1
        return text[begin:at].replace("_", " ")

    while True:
        if text[at] == "(":
            open_nodes.append({"children": [], "comments": []})
            at += 1
            continue
        node = {"children": [], "comments": []} if done is None else done
        done = None
        if text[at] not in ",):;[":
            node["name"] = word()
        comments_before = _comments(text, at)
        at, node["comments"] = comments_before[0], node["comments"] + comments_before[1]
        if text[at] == ":":
            begin = at = at + 1
            while text[at] in "0123456789.eE+-":
                at += 1
            node["length"] = float(text[begin:at])
        comments_after = _comments(text, at)
        at, node["comments"] = comments_after[0], node["comments"] + comments_after[1]
        if not node["children"] and not node.get("name"):
            raise ValueError(f"a leaf without a name at {at}")
        if text[at] == ";":
            if open_nodes:
                raise ValueError("parentheses are not closed")
            if text[at + 1 :].strip():
                raise ValueError("text after the tree")
            break
        if not open_nodes:
            raise ValueError(f"unexpected {text[at]!r} at {at}")
        open_nodes[-1]["children"].append(node)
        if text[at] == ",":
            at += 1
        elif text[at] == ")":
            at += 1
            done = open_nodes.pop()
        else:
            raise ValueError(f"unexpected {text[at]!r} at {at}")
    todo = [(node, 0.0, ())]
    while todo:
        node, depth, above = todo.pop()
        if node["children"]:
            inner.append((set(), node["comments"]))
            todo.extend(
                (child, depth + child.get("length", 0.0), (*above, len(inner) - 1)) for child in node["children"]
            )
            continue
        if node["name"] in leaves:
            raise ValueError(f"{node['name']!r} is there twice")
        leaves[node["name"]] = depth
        for i in above:
            inner[i][0].add(node["name"])
    return leaves, inner


def _comments(text, at):
    found = []
    while text[at] == "[":
        end = text.index("]", at)
        found.append(text[at + 1 : end])
        at = end + 1
    return at, found
