"""A function that raises by itself, two calls deep."""


def split_heads(x, heads):
    if x.shape[-1] % heads:
        raise ValueError(f"{x.shape[-1]} channels cannot be split\nover {heads} heads")
    return x.reshape(*x.shape[:-1], heads, -1)


def attention(x, heads=3):
    q = split_heads(x, heads)
    return q


def make(inspect):
    return inspect(attention, "f32[2,128,64]")
