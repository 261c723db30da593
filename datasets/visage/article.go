package visage

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// soundsOtherwise are beginnings of words (lower case) whose first letter does not tell the sound: true = a vowel's,
// that is "an". The longest beginning counts.
var soundsOtherwise = map[string]bool{
	"uni": false, "unin": true, "unim": true, "unid": true, "unit": false, "uk": false, "ugan": false, "uru": false,
	"use": false, "usa": false, "usu": false, "ut": false, "utt": true, "uzb": true,
	"eu": false, "ew": false, "one": false, "once": false, "hon": false, "hone": true, "honey": false, "honor": true,
	"honour": true, "hour": true, "heir": true,
}

// Article is "a" or "an", by the sound that the next word begins with: a European, a United States, a Ukrainian, an
// Uzbek, an hour.
func Article(next string) string {
	word := strings.ToLower(strings.TrimLeftFunc(next,
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }))
	first, _ := utf8.DecodeRuneInString(word)
	vowel := strings.ContainsRune("aeiouàáâäãåèéêëìíîïòóôöõøùúûüæœ8", first)
	longest := 0
	for start, sound := range soundsOtherwise {
		if len(start) > longest && strings.HasPrefix(word, start) {
			longest, vowel = len(start), sound
		}
	}
	if vowel {
		return "an"
	}
	return "a"
}

// Fill fills a template's slots {id} and {attr}. "{a}" and "{A}" become a or an, with a small or capital letter, by
// the word after them.
func Fill(template, identity, attribute string) string {
	text := strings.NewReplacer("{id}", DisplayName(identity), "{attr}", attribute).Replace(template)
	for _, slot := range []string{"{a}", "{A}"} {
		for {
			before, after, found := strings.Cut(text, slot)
			if !found {
				break
			}
			article := Article(after)
			if slot == "{A}" {
				article = "A" + article[1:]
			}
			text = before + article + after
		}
	}
	return text
}
