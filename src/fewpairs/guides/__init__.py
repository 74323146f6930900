"""Guides: something cheap that hints at the expensive similarity."""
