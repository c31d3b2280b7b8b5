"""The rules of the protocol: what plays each of them, by what they speak of."""
