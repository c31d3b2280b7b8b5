"""Specs of cases that are hard to show."""

HOSTILE = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'><!--"


HOSTILE_SPEC = f"""\
op: VariadicSplit-1
groups:
  - id: hostile
    title: "{HOSTILE}"
    requirements: [lengths.sum]
    data: {{shape: [6, 2]}}
    axis: 0
    split_lengths: [2, 4]
"""


SECOND_FEED = """\
op: Split-1
groups:
  - id: second-uneven
    title: a second inference that cannot be divided
    requirements: [num_splits.divides]
    data: {shape: [6, 3]}
    dynamic: ["?", 3]
    axis: 0
    num_splits: 3
    feed: {data: {shape: [7, 3]}}
    expect: {reject: num_splits.divides}
    twin: {feed: {data: {shape: [9, 3]}}}
"""
