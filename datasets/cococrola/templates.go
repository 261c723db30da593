package cococrola

import (
	"fmt"
	"strconv"
)

// TemplateVariants returns the prompt templates compared in Appendix B (English, Spanish, Chinese), from the authors'
// repository: the paper names only the parts that vary. IDs count from 1 within a language. The paper first compares
// dog, sea, airplane and ship.
func TemplateVariants() []Template {
	english := []string{"a photograph of", "an image of", "a photo of", "a picture of", "a picture of a",
		"a picture of the", "a picture of my", "a picture of an"}
	spanish := []string{"un foto de", "un foto de un", "un foto de una", "un foto de el", "un foto de la",
		"un foto de mi", "un foto de tu", "un foto de nuestra"}
	chinese := []string{"照片", "图片", "的照片", "的图片"}
	var out []Template
	add := func(language, text string, n int) {
		out = append(out, Template{language, strconv.Itoa(n + 1), text})
	}
	for i, t := range english {
		add("en", t+" "+Slot, i)
	}
	for i, t := range spanish {
		add("es", t+" "+Slot, i)
	}
	for i, t := range chinese {
		add("zh", Slot+t, i)
		add("zh", "一张"+Slot+t, i+len(chinese))
	}
	return out
}

// CreativePrompt is a prompt of section 5.6 in one language, with the concepts in it.
type CreativePrompt struct {
	ID, Language, Text string
	Concepts           []string
}

// CreativePrompts returns the two prompts of section 5.6 (Figure 10) in English, Spanish and Japanese, as printed.
func CreativePrompts() []CreativePrompt {
	a, b := []string{"bird", "keyboard", "snow"}, []string{"dog", "fire", "moon"}
	return []CreativePrompt{
		{"a", "en", "a bird using a keyboard in the snow", a},
		{"a", "es", "un pájaro usando un teclado en la nieve", a},
		{"a", "ja", "雪にキーボードを使っている鳥", a},
		{"b", "en", "a dog made of fire standing on the moon", b},
		{"b", "es", "un perro hecho de fuego pisando en la luna", b},
		{"b", "ja", "火でできた犬が月に立っている", b},
	}
}

// id is the stem of an image's file name in the authors' scripts.
func (c Concept) id(t Template, number int) string {
	id := fmt.Sprintf("%d-%s-%s-%d", c.Row, t.Language, c.Name, number)
	if t.ID != "main" {
		id += "-" + t.ID
	}
	return id
}
