// Package hypersphere keeps the books of a precision and coverage run: which generated pictures lie in which real
// picture's ball. From them it makes the six selections that the Decomposed-DIG paper (section 7 of its specification)
// looks at by eye:
//
//   - low-diversity backgrounds: [LowDiversityBackgrounds]
//   - low-diversity objects: [LowDiversityObjects]
//   - low-realism backgrounds: [Book.OutOfManifold]
//   - over-covering real pictures: [Book.Hubs], and [Book.LeaveOut] for the share of pictures that hangs on them
//   - prompt comparison: [ComparePrompts]
//   - manual inspection: [Inspect], with hand tags ([Tags]) and their shares
//
// Selections are lists of ids with counts and distances. They are in a fixed order, or drawn with a seed: equal input gives equal lists.
package hypersphere
