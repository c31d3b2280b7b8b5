"""The profile `quick`: recorded kills, and the cover of them that `cases/quick.json` lists."""
