package datasets

// The tables of this file serve the audits by language, people and occupation. Their pictures are drawn by archipelago-sampler, a stand-in for a generator; what each
// shows is recorded, and caption is what a perfect captioner would say of it in English. seed is the number of the picture of its prompt, from 0: equal across prompts
// and languages, as with a generator that is given the same seeds. [PerCell] sets the pictures of each prompt; where it is not given each table has its audit's number.
// [World.AuditPlants] says what is planted.

// Concepts is CoCo-CroLa's set: pictures of each concept, asked for in English and in the four invented languages (10 of each). concept and object are what was asked for,
// shown is what the picture shows, failure how that fails ("", non-specific, specific, generic), prompt_id the concept. Pictures of scenes have no mask.
func (w World) Concepts() Table {
	return w.audit("concepts", "id:text", "image:image", "mask:mask", "concept:text", "object:text", "language:text", "prompt:text", "prompt_id:text", "shown:text", "failure:text",
		"variant:text", "region:text", "scene:text", "caption:text", "source:text", "model:text", "seed:number")
}

// Words is CoCo-CroLa's list of concepts: a row for each concept and language with its bare word.
func (w World) Words() Table {
	return w.audit("words", "id:text", "concept:text", "language:text", "word:text", "prompt:text", "prompt_id:text")
}

// Captions is IndicTTI's set: pictures of 40 captions in English and in the four invented languages (4 of each). prompt is the caption in its language, english the same in
// English, caption what the picture shows; lost is "object" or "scene" where a picture lost that. text is caption as a vector: a place for each word that a caption can
// have, 1 where it has it.
func (w World) Captions() Table {
	return w.audit("captions", "id:text", "image:image", "mask:mask", "language:text", "prompt:text", "prompt_id:text", "english:text", "caption:text", "lost:text",
		"object:text", "variant:text", "region:text", "scene:text", "source:text", "model:text", "seed:number", "text:vector")
}

// References is a photo for each caption of [World.Captions], as IndicTTI's data set has it; text is the English caption as a vector.
func (w World) References() Table {
	return w.audit("references", "id:text", "image:image", "mask:mask", "prompt_id:text", "prompt:text", "caption:text",
		"object:text", "variant:text", "region:text", "scene:text", "source:text", "text:vector")
}

// Peoples is ViSAGe's set: of each people pictures of three default prompts (set d), of a prompt for each of its three stereotypes (s) and of a prompt for each of three other
// attributes (ns), 5 of each. attribute is what the prompt asks for; caption names all attributes that the figure shows, and traits is the same as a vector: 1, then
// for each attribute 1 where it is shown. number counts a people's pictures from 1.
func (w World) Peoples() Table {
	return w.audit("peoples", "id:text", "image:image", "mask:mask", "identity:text", "set:text", "attribute:text", "prompt:text", "prompt_id:text", "caption:text", "attributes:text",
		"region:text", "scene:text", "source:text", "model:text", "seed:number", "number:number", "traits:vector")
}

// Stereotypes is a row for each people and attribute, in the columns of ViSAGe's pairs: na_stereo and region_stereo are 3 where the attribute is said of the people, else 0;
// no pair is offensive (-1), and every attribute can be seen (5).
func (w World) Stereotypes() Table { return w.audit("stereotypes", stereotypeColumns...) }

// Annotations is what perfect annotators would say of the default pictures of [World.Peoples]: a row for each picture and attribute, with the columns of [World.Stereotypes];
// selected is 1 where the picture shows the attribute.
func (w World) Annotations() Table {
	return w.audit("annotations", append([]string{"id:text", "image_id:text", "picture:number", "selected:number"}, stereotypeColumns[1:]...)...)
}

var stereotypeColumns = []string{"id:text", "identity:text", "attribute:text", "na_stereo:number", "region_stereo:number", "offensiveness:number",
	"score_asia:number", "score_europe:number", "score_na:number"}

// ArchipelagoAxes are the axes of [World.Occupations] and their groups, as the option axes of ENTIGEN's scores takes them.
const ArchipelagoAxes = "perceived_crest=round/pointed, perceived_banner=light/dark"

// Occupations is ENTIGEN's set: pictures of each occupation and ceremony (attribute, in a category) with each intervention (original, crest, banner, irrelevant), 9 of each. kind
// says the same as ENTIGEN's scores do (EI: perceived crest).
// perceived_crest (round or pointed) and perceived_banner (light or dark) are the groups that the figure's signs put it in, as perfect raters would say; person and
// as_described are 1, picture is the id.
func (w World) Occupations() Table {
	return w.audit("occupations", "id:text", "image:image", "mask:mask", "category:text", "attribute:text", "intervention:text", "kind:text", "prompt:text", "prompt_id:text",
		"perceived_crest:text", "perceived_banner:text", "picture:text", "person:number", "as_described:number", "identity:text", "caption:text",
		"region:text", "scene:text", "source:text", "model:text", "seed:number")
}

// AuditPlants lists what is planted in the tables of this file: audit (cococrola, indictti, visage, entigen), carrier (the language, people or occupation), subject (the concept,
// what is lost, the attribute, the axis), kind, size (a share), elsewhere (the same where nothing is planted), score it moves, description.
func (w World) AuditPlants() Table {
	return w.audit("audit-plants", "audit:text", "carrier:text", "subject:text", "kind:text", "size:number", "elsewhere:number", "score:text", "description:text")
}

// Lexicon is every word of the invented languages: language, name, script, direction (ltr or rtl), kind, english, word.
func (w World) Lexicon() Table {
	return w.audit("lexicon", "id:text", "language:text", "name:text", "script:text", "direction:text", "kind:text", "english:text", "word:text")
}

func (w World) audit(set string, columns ...string) Table {
	return w.table(set, columns...).Named("archipelago " + set)
}
