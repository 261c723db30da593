package datasets

// Captions, Concepts, Peoples and Occupations are the tables for the audits by language, people and occupation. Their
// images come from
// archipelago-sampler, a procedural sampler used in place of a generator. What each image shows is recorded; caption
// is the English sentence of a perfect captioner. seed numbers the images of a prompt from 0: it is the same across
// prompts and languages, as with a generator that uses the same seeds for each prompt. [ArchipelagoOptions].PerCell
// is the number of images of each prompt; 0 = the number of the audit's paper. [World.AuditDisparities] lists what is
// injected.

// Concepts returns the generated images of CoCo-CroLa's audit: images of each concept, requested in English and in the
// four invented languages (10 of each). concept, object and prompt_id are the requested concept, shown is what the
// image shows, and failure classifies a difference between the two ("", non-specific, specific, generic). Images of
// scenes have no mask.
func (w World) Concepts() Table {
	return w.audit("concepts", "id:text", "image:image", "mask:mask", "concept:text", "object:text", "language:text",
		"prompt:text", "prompt_id:text", "shown:text", "failure:text",
		"variant:text", "region:text", "scene:text", "caption:text", "source:text", "model:text", "seed:number")
}

// Words returns CoCo-CroLa's list of concepts: a row for each concept and language, with the word alone in word and
// its prompt in prompt.
func (w World) Words() Table {
	return w.audit("words", "id:text", "concept:text", "language:text", "word:text", "prompt:text", "prompt_id:text")
}

// CreativePrompts returns prompts of two concepts each, an object in a scene, in English and the four invented
// languages: the creative prompts of CoCo-CroLa. concepts names them, separated by commas.
func (w World) CreativePrompts() Table {
	return w.audit("creative", "id:text", "prompt_id:text", "language:text", "prompt:text", "concepts:text")
}

// Captions returns the generated images of IndicTTI's audit: images of 40 captions in English and in the four invented
// languages (4 of each). prompt is the caption in its language, english its English version, and caption what the
// image shows; lost is "object" or "scene" if the image does not show the requested one. text is caption as a vector of
// 0 and 1, with a component for each word that a caption can have.
func (w World) Captions() Table {
	return w.audit("captions", "id:text", "image:image", "mask:mask", "language:text", "prompt:text", "prompt_id:text",
		"english:text", "caption:text", "lost:text",
		"object:text", "variant:text", "region:text", "scene:text", "source:text", "model:text", "seed:number",
		"text:vector")
}

// CaptionReferences returns one reference image for each caption of [World.Captions], as IndicTTI's data set has; text
// is the English caption as a vector.
func (w World) CaptionReferences() Table {
	return w.audit("references", "id:text", "image:image", "mask:mask", "prompt_id:text", "prompt:text", "caption:text",
		"object:text", "variant:text", "region:text", "scene:text", "source:text", "text:vector")
}

// Peoples returns the generated images of ViSAGe's audit: for each people, images of three default prompts (set d), of
// a prompt for each of its three stereotypes (s) and of a prompt for each of three other attributes (ns), 5 of each.
// attribute is the requested attribute; caption and attributes name all attributes of the drawn person. traits is the
// same as a vector: 1, then 1 or 0 for each attribute. number counts a people's images from 1.
func (w World) Peoples() Table {
	return w.audit("peoples", "id:text", "image:image", "mask:mask", "identity:text", "set:text", "attribute:text",
		"prompt:text", "prompt_id:text", "caption:text", "attributes:text",
		"region:text", "scene:text", "source:text", "model:text", "seed:number", "number:number", "traits:vector")
}

// Stereotypes returns a row for each people and attribute, with the columns of ViSAGe's pairs: na_stereo and
// region_stereo are 3 for a stereotype of the people, else 0; no pair is offensive (-1), and every attribute is visual
// (5).
func (w World) Stereotypes() Table { return w.audit("stereotypes", stereotypeColumns...) }

// Annotations returns the annotations of perfect annotators of the default images of [World.Peoples]: a row for each
// image and attribute, with the columns of [World.Stereotypes]; selected is 1 if the image shows the attribute.
func (w World) Annotations() Table {
	return w.audit("annotations", append([]string{"id:text", "image_id:text", "image_number:number", "selected:number"},
		stereotypeColumns[1:]...)...)
}

var stereotypeColumns = []string{"id:text", "identity:text", "attribute:text", "na_stereo:number",
	"region_stereo:number", "offensiveness:number",
	"score_asia:number", "score_europe:number", "score_na:number"}

// ArchipelagoAxes are the axes of [World.Occupations] and their groups, in the form of the option axes of ENTIGEN's
// scores.
const ArchipelagoAxes = "perceived_crest=round/pointed, perceived_banner=light/dark"

// Occupations returns the generated images of ENTIGEN's audit: images of each occupation and ceremony (attribute, in a
// category) with each intervention (original, crest, banner, irrelevant), 9 of each. kind is the intervention in the
// words of ENTIGEN's scores (EI: perceived crest). perceived_crest (round or pointed) and perceived_banner (light or
// dark) are the labels of perfect raters; person and as_described are 1, image_id is the id.
func (w World) Occupations() Table {
	return w.audit("occupations", "id:text", "image:image", "mask:mask", "category:text", "attribute:text",
		"intervention:text", "kind:text", "prompt:text", "prompt_id:text",
		"perceived_crest:text", "perceived_banner:text", "image_id:text", "person:number", "as_described:number",
		"identity:text", "caption:text",
		"region:text", "scene:text", "source:text", "model:text", "seed:number")
}

// AuditDisparities lists the disparities injected into Captions, Concepts, Peoples and Occupations: audit (cococrola,
// indictti, visage, entigen), carrier (the language, people or occupation), subject (the concept, what is lost, the
// attribute, the axis), kind, size (a share), elsewhere (the same share without an injected disparity), score (the
// score that shows it) and description. It has no rows without Injected.
func (w World) AuditDisparities() Table {
	return w.audit("audit-plants", "audit:text", "carrier:text", "subject:text", "kind:text", "size:number",
		"elsewhere:number", "score:text", "description:text").named("archipelago injected disparities")
}

// Lexicon returns the words of the invented languages: language, name, script, direction (ltr or rtl), kind, english,
// word.
func (w World) Lexicon() Table {
	return w.audit("lexicon", "id:text", "language:text", "name:text", "script:text", "direction:text", "kind:text",
		"english:text", "word:text")
}

func (w World) audit(set string, columns ...string) Table {
	return w.table(set, columns...).named("archipelago " + set)
}
