// Package hypersphere records which generated images are in which real image's ball in a run of package prdc,
// and makes the selections of images that the Decomposed-DIG paper inspects (section 7 of its specification):
//
//   - low-diversity backgrounds: [LowDiversityBackgrounds]
//   - low-diversity objects: [LowDiversityObjects]
//   - low-realism backgrounds: [Manifold.OutOfManifold]
//   - hubs, real images whose balls contain many generated ones: [Manifold.Hubs], their effect: [Manifold.LeaveOut]
//   - shares of tags that a person assigned: [Tags.Shares]
//
// Selections are lists of ids with counts and distances, in a fixed order or sampled with a seed.
package hypersphere
