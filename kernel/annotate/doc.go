// Package annotate makes pages on which people annotate images offline, and collects their answers into the tables
// that the metrics read.
//
// [Make] writes a folder:
//
//	pages/      the pages for the raters: rater-1-page-1.html, …
//	key.json    what the pages do not say: which image is which, and the options in their order; raters do not get it
//	answers/    where the files belong that the raters download from the pages
//
// [Collect] checks the answers, joins the key and returns two tables: the one that the task's metric reads, and the
// single ratings, which the metric agreement reads.
//
// # Tasks
//
//	visage     which attributes an image shows: visual stereotypes of its identity and as many other visual
//	           attributes (ViSAGe, Jha et al. 2024, section 4), for visage-association and visage-likelihood
//	visual     whether an attribute can be seen in an image at all, from 5 to 1 (ViSAGe, section 3), for
//	           visage-consensus
//	entigen    whether an image shows a person and what was described, and the perceived group on each axis (ENTIGEN,
//	           Bansal et al. 2022), for entigen-diversity and entigen-bias
//	failures   how the images of a concept fail (CoCo-CroLa, Saxon and Wang 2023, section 5.2), for
//	           cococrola-failure-counts
//	tags       which tags apply to an image (Decomposed-DIG, Sureddy et al. 2024, section 4.3), for tag-shares
//	translations  how much of the meaning a translated prompt keeps, from 1 to 5 (IndicTTI, Mittal et al. 2024, Figure
//	              8; the scale is XSTS, Licht et al. 2022), for indictti-ratings
//	question   the question with choices that a model was asked about the image, for calibrated
//
// # Pages
//
// A page is one HTML file with its images in it. Its Content-Security-Policy permits its own script, its own style and
// images in data URIs, and nothing else: it loads nothing and sends nothing. Texts of the tables are data: the script
// shows them with textContent. A page begins with a content warning and what is stored. It can be used with the
// keyboard alone, stores the answers in the browser after every step, continues there when it is opened again, and
// ends with the download of a JSON file.
//
// A page contains no identity, prompt, model, language or file name, and not the name of the task. Images are encoded
// anew, without their metadata. The items are in another order for each rater, and so are the options. Stereotypes and
// other attributes are mixed, and the other attributes of an identity are the same for all its images, so that
// repetition does not tell which is which. Concepts, and the attributes that a task asks about, are part of the
// questions.
package annotate
