"""Signed results: certificates and their verification."""
