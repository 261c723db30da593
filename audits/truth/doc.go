// Package truth tests the five audits where the truth is known: in the built-in world, whose injected disparities
// have known places and sizes.
//
// Two generators are compared: one trained on the world with injected disparities, one on the same world without.
// For each audit a pool of their images is sampled many times, the whole audit runs on each sample, and its
// findings are compared with the truth. This measures how often an audit finds a disparity (its power), how often
// it raises a false alarm, and how many images it needs.
//
// # Use
//
// [Test] holds the parameters; its zero value is the test of the shipped generators. Its methods return tables, which
// compute nothing before they are shown:
//
//	var test = truth.Test{}
//	plots.Show(plots.Table{Table: test.Whole(true).Where("found", "==", "yes")})
//
// [Test.Pool] is what an audit reads of the images, [Test.Whole] what the audits find in whole pools,
// [Test.Studies] in single samples, [Test.FalseAlarms] their rates without disparities, [Test.Curves] their power
// by the number of images.
package truth
