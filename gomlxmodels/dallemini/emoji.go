package dallemini

import (
	"cmp"
	"strconv"
	"strings"
	"sync"

	"github.com/forPelevin/gomoji"
)

// emojiNames returns the names of emoji as version 1.7.0 of Python's package emoji writes them, that is those of Emoji
// 14.0, and "" for beginnings of emoji that are none themselves.
var emojiNames = sync.OnceValue(func() map[string]string {
	names := map[string]string{"❤\ufe0f": ":red_heart:", "😡": ":pouting_face:", "💤": ":zzz:", "🏻": ":light_skin_tone:",
		"🏼": ":medium-light_skin_tone:", "🏽": ":medium_skin_tone:", "🏾": ":medium-dark_skin_tone:",
		"🏿": ":dark_skin_tone:", "🦰": ":red_hair:", "🦱": ":curly_hair:", "🦲": ":bald:",
		"🦳": ":white_hair:"} // which gomoji lacks, or names as later versions do
	signs := strings.NewReplacer("flag: ", "", ":", "", ",", "", "“", "", "”", "", " ", "_")
	for _, e := range gomoji.AllEmojis() { // UnicodeName is such as "E13.0 people hugging"
		version, name, _ := strings.Cut(strings.TrimPrefix(e.UnicodeName, "E"), " ")
		if v, err := strconv.ParseFloat(version, 64); err != nil || v > 14 || names[e.Character] != "" {
			continue
		}
		names[e.Character] = ":" + signs.Replace(name) + ":"
		for i := range e.Character {
			if _, ok := names[e.Character[:i]]; !ok {
				names[e.Character[:i]] = ""
			}
		}
	}
	return names
})

// demojize returns a text with the names of emoji in their place. As in the original, the longest beginning of an emoji
// decides: where that is none itself, its first character stays.
func demojize(text string) string {
	names := emojiNames()
	var out strings.Builder
	for at := 0; at < len(text); {
		name, size, first := "", 0, 0
		for i, r := range text[at:] {
			end := i + len(string(r))
			first = cmp.Or(first, end)
			n, ok := names[text[at:at+end]]
			if !ok {
				break
			}
			name, size = n, end
		}
		if name == "" {
			name, size = text[at:at+first], first
		}
		out.WriteString(name)
		at += size
	}
	return out.String()
}
