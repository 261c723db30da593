// Package disparity scores how realistic and how diverse generated images are for each group of reference images, and
// how far the groups differ, as the Decomposed-DIG paper does for regions of the world.
//
// # Scores of two sets of images
//
// [PrecisionCoverage] scores realism and diversity by group; [Gaps] and [GapsToControls] return the differences
// between groups with simultaneous intervals; [Hyperspheres], [HubShares] and [Gallery] return the images that
// determine a score. The ball of a reference image reaches to its k-th nearest reference image; the balls of a group
// together are the manifold that precision and coverage refer to. A hub is a reference image whose ball contains
// unusually many generated images. The option Unmasked selects how images without a mask are treated; they are
// counted. Package prdc has the function on slices.
//
// # What made a gap
//
// [GapSources] tells whether the generator, the reference images, their acquisition ([Acquisition]) or the segmenter
// ([MaskTrust], [GapSensitivity]) made it, and [Specifications] whether it depends on choices of the analysis.
//
// # Summaries of scores by region
//
// [RegionSummary], [DisparityRatios], [TemplateDeltas], [ObjectMeans] and [TrendLines] take results of
// [PrecisionCoverage] and compute the numbers of the paper, [Values] and [PaperTable] all of them. [InjectedVerdicts]
// compares gaps with the disparities injected into the training world of the built-in models. Among equal scores the
// first region in alphabetical order is the worst, and the best; all regions have the same weight.
//
// # Preparing images
//
// [ClassFilter] and [DuplicateVectors] find images to leave out; they are table operations, which are also available
// as `antipode table --apply NAME`. [TagShares] counts manual tags.
package disparity
