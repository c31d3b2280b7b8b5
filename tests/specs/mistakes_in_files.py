"""Mistakes that are found when a spec is read."""

from tests.specs.spec_texts import BODY, HEAD, axis, data

#: The spec, and a part of what is said of it, by the mistake.
IN_FILES = {
    "misspelt key": (
        HEAD + "    profil: core\n" + BODY,
        "spec.yaml:5:5: Unknown key 'profil'. Did you mean 'profile'? Allowed: axis, binding, combine",
    ),
    "misspelt operation": (
        "op: VariadicSplit1\ngroups: []\n",
        "spec.yaml:1:5: op: 'VariadicSplit1' is not a known operation. Did you mean 'VariadicSplit-1'?",
    ),
    "schema that is not text": (
        "$schema: 1\n" + HEAD + BODY,
        "spec.yaml:1:10: $schema: 1 is not allowed: it must be a string.",
    ),
    "misspelt key of the file": (
        "$shema: s.json\n" + HEAD + BODY,
        "spec.yaml:1:1: Unknown key '$shema'. Did you mean '$schema'? Allowed: $schema, groups, op.",
    ),
    "second document": (
        "op: Split-1\n---\nop: Tile-1\n",
        "spec.yaml:2:1: This is a second document; write one document in a file.\n",
    ),
    "alias without an anchor": (
        "op: *op\n",
        "spec.yaml:1:5: No value before this alias has the anchor 'op'.\n",
    ),
    "anchor of two values": (
        "op: &a Split-1\ngroups: &a []\n",
        "spec.yaml:2:9: The anchor 'a' is repeated.\n",
    ),
    "key that is a list": ("op: Split-1\n? [a]\n: b\n", "spec.yaml:2:3: A key must be a string.\n"),
    "missing key": ("op: Split-1\n", "spec.yaml:1:1: The key 'groups' is missing."),
    "missing key beside an unknown one": (
        "op: Split-1\ngroups:\n  - id: a\n    axs: 0\n",
        "spec.yaml:3:5: The key 'title' is missing.\nspec.yaml:4:5: Unknown key 'axs'. Did you mean 'axis'?",
    ),
    "wrong type": (data("{shape: 6}"), "spec.yaml:5:19: shape: 6 is not allowed: it must be a list."),
    "groups as a mapping": (
        "op: Split-1\ngroups:\n  a: {id: a}\n",
        "spec.yaml:3:3: groups: a mapping is not allowed: it must be a list.",
    ),
    "unknown variable in a shape": (
        data("{shape: [m, 3]}"),
        "shape: 'm' is not allowed: it must be an integer; for a variable, list its values in `matrix` and write \"${{ m }}\".",
    ),
    "matrix without a list": (
        HEAD + "    matrix: {axis: 0}\n" + BODY,
        "spec.yaml:5:20: matrix.axis: 0 is not allowed: it must be a list.",
    ),
    "wrong fill": (
        data("{shape: [6], fill: rmp}"),
        "spec.yaml:5:30: fill: 'rmp' is not allowed: it must be 'ramp', 'small', 'exact', 'fractions', 'normal', 'bits', 'binades', 'special' or 'constant'. Did you mean 'ramp'?",
    ),
    "wrong element type": (
        data("{shape: [6], element_type: float32}"),
        "spec.yaml:5:38: element_type: 'float32' is not allowed: it must be 'boolean', 'bf16', 'f16', 'f32'",
    ),
    "element type of numpy": (data("{shape: [6], element_type: int8}"), " or 'string'. Did you mean 'i8'?\n"),
    "element type as numpy calls it": (
        data("{shape: [6, 2], dtype: f32}"),
        "spec.yaml:5:27: Unknown key 'dtype'. Did you mean 'element_type'? Allowed: element_type, fill, shape, value, values.\n",
    ),
    "variable without brackets in a shape": (
        HEAD + "    matrix: {n: [6]}\n    data: {shape: [n]}\n    axis: 0\n    split_lengths: [6]\n",
        "spec.yaml:6:20: shape: 'n' is not allowed: it must be an integer; write \"${{ n }}\" for the variable.\n",
    ),
    "dynamic dimension as in OpenVINO": (
        HEAD + BODY + "    dynamic: [-1, 2]\n",
        'spec.yaml:8:15: dynamic: -1 is not allowed: it must be a size, "?" or bounds such as "2..8". Did you mean "?"?\n',
    ),
    "dynamic dimension that is null": (
        HEAD + BODY + "    dynamic: {data: [null, 2]}\n",
        'spec.yaml:8:22: data: null is not allowed: it must be a size, "?" or bounds such as "2..8". Did you mean "?"?\n',
    ),
    "bracket that is not closed": (
        HEAD + "    data: {shape: [6, 2]}\n    axis: 0\n    split_lengths: [1, 5\n    context: bare\n",
        "spec.yaml:7:20: This is not YAML: the '[' is not closed; ',' or ']' is expected at line 8, column 12.\n",
    ),
    "bracket that is not closed at the end": (
        HEAD + "    data: {shape: [6, 2]\n",
        "spec.yaml:5:11: This is not YAML: the '{' is not closed; ',' or '}' is expected at line 6, column 1.\n",
    ),
    "bracket that is closed by another": (
        HEAD + "    data: {shape: [6, 2}\n    axis: 0\n    split_lengths: [1, 5]\n",
        "spec.yaml:5:19: This is not YAML: the '[' is not closed; ',' or ']' is expected at line 5, column 24.\n",
    ),
    "quote that is not closed": (
        HEAD + "    profile: 'core\n" + BODY,
        "spec.yaml:5:14: This is not YAML: the quote is not closed.\n",
    ),
    "fill that is not alike any": (
        data("{shape: [6], fill: random}"),
        "fill: 'random' is not allowed: it must be 'ramp', 'small', 'exact', 'fractions', 'normal', 'bits', 'binades', 'special' or 'constant'.\n",
    ),
    "unknown requirement": (
        HEAD + "    requirements: [axis.rang]\n" + BODY,
        "spec.yaml:5:20: 'axis.rang' is not a requirement of VariadicSplit-1. Did you mean 'axis.range'?",
    ),
    "unreadable expression": (axis("${{ 1 + }}"), "spec.yaml:6:11: `1 +` is not a valid expression:"),
    "filter": (axis("${{ n | abs }}", "{n: [6]}"), "`n | abs` is not a valid expression: unknown filter 'abs'."),
    "expression with one bracket": (
        axis("${ n }", "{n: [0]}"),
        "spec.yaml:7:11: '${ n }' is not an expression, which is ${{ … }}.\n",
    ),
    "expression without a dollar": (
        axis("'{{ n }}'", "{n: [0]}"),
        "spec.yaml:7:11: '{{ n }}' is not an expression, which is ${{ … }}.\n",
    ),
    "title without text": (
        HEAD.replace("title: t", "title:") + BODY,
        "title: null is not allowed: it must be a string.\n",
    ),
    "requirement with its operation": (
        HEAD + "    requirements: ['VariadicSplit-1:axis.range']\n" + BODY,
        "is not a requirement of VariadicSplit-1. Did you mean 'axis.range'? `opconform list VariadicSplit-1 --requirements` lists them.\n",
    ),
    "exclude in the matrix": (
        HEAD + "    matrix: {n: [0], exclude: [{n: 1}]}\n" + BODY,
        "spec.yaml:5:22: Write 'exclude' beside `matrix`, not in it.",
    ),
    "text with an expression": (
        data("{shape: [6], element_type: 'f${{ 32 }}'}"),
        "mixes text with an expression; an expression must be the whole value.",
    ),
    "variable called as a function": (
        HEAD + "    matrix: {rank: [1]}\n" + BODY,
        "spec.yaml:5:14: 'rank' is the name of a function. Rename the variable.",
    ),
    "twice the same key": (
        HEAD + "    title: again\n" + BODY,
        "spec.yaml:5:5: The key 'title' is repeated.",
    ),
    "twice the same group": (
        HEAD + BODY + "  - id: a\n    title: t\n" + BODY,
        "spec.yaml:8:9: group 'a': the id is already used by the group at spec.yaml:3:5.",
    ),
    "a Python object": (
        HEAD + "    profile: !!python/object/apply:os.system [id]\n" + BODY,
        "spec.yaml:5:14: ",
    ),
    "no YAML": ("op: [Split-1\ngroups: x: y\n", "This is not YAML:"),
    "no mapping": ("- 1\n", "spec.yaml:1:1: A spec is a mapping with the keys 'op' and 'groups'."),
    "empty": ("", "spec.yaml:1:1: A spec is a mapping with the keys 'op' and 'groups'."),
    "a control character": (
        HEAD + "    profile: \x01\n",
        "spec.yaml:5:14: This is not YAML: a character U+0001 is not allowed.",
    ),
    "a colon in a text": (
        "op: Split-1\ngroups:\n  - id: a\n    title: random: shapes\n",
        "spec.yaml:4:18: This is not YAML: mapping values are not allowed in this context; quote a text that contains a colon, write a space after the colon of a key, and give all keys the same indentation.",
    ),
    "another line break": (
        "op: Split-1\r\u2028\x85groups: [\r  ${{ a",
        "spec.yaml:5:4: This is not YAML: did not find expected ',' or ']'; quote an expression inside {…}.",
    ),
    "a tab": (
        HEAD + "\tprofile: core\n" + BODY,
        "spec.yaml:5:1: This is not YAML: found a tab character that violates indentation; indent with spaces, not tabs.",
    ),
    "braces without a dollar": (
        axis("{{ l }}"),
        "spec.yaml:6:12: A key must be a string; an expression is written ${{ … }}.",
    ),
    "an expression in a flow mapping": (data("{shape: ${{ s }}}"), "; quote an expression inside {…}."),
    "an empty list of a variable": (
        HEAD + "    matrix: {l: []}\n" + BODY,
        "spec.yaml:5:17: matrix.l: [] is not allowed: it must not be empty.",
    ),
    "an expectation without a requirement": (
        HEAD + BODY + "    expect: reject\n",
        "spec.yaml:8:13: expect: 'reject' is not allowed: it must be 'accept' or 'semantics' or {reject: REQUIREMENT}.",
    ),
    "nested too deep": (
        "op: " + "[" * 5000 + "]" * 5000,
        "spec.yaml:1:68: Values are nested deeper than 64 levels here.",
    ),
}
