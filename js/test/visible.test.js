import assert from "node:assert/strict";
import test from "node:test";
import { visible } from "../src/visible.js";

test("what cannot be seen is written by its number", () => {
  assert.equal(visible("\u001b[31mred\u0007 a\u202eb\u2066c\u200fd\u200b\ufeff"), "⟨U+001B⟩[31mred⟨U+0007⟩ a⟨U+202E⟩b⟨U+2066⟩c⟨U+200F⟩d⟨U+200B⟩⟨U+FEFF⟩");
  assert.equal(visible("\u{e0041}\ud800x"), "⟨U+E0041⟩⟨U+D800⟩x");
});

test("layout, accents, emoji and mathematics stay as they are", () => {
  const text = "\ta\nb é 𝛼 ❤️ → ⟨x⟩ 日本";
  assert.equal(visible(text), text);
});
