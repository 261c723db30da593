// Package webimages fetches images by URL into a folder, for tables of reference images that are published as lists of
// addresses.
//
// Each URL is requested once, however many rows have it. A URL that yields no image is a [Result] with a reason, never
// an error of [Fetch]: a host that is gone, a status other than 200, a page in place of an image, an image that cannot
// be decoded, an answer that is too large, an address that is not public.
//
// # Resuming
//
// The folder contains each image under its SHA-256 and a journal, [Journal], of a JSON line for each finished URL. A
// later call requests only what the journal lacks, so that an interrupted run continues and its results are those of
// a run without interruption. Files are hashed again; a file that has changed or is missing is fetched again.
//
// # Politeness
//
// A host gets at most [Options].Rate requests a second and two at a time. A request after a redirect counts for the
// host it goes to. Statuses 429 and 503 with a Retry-After header stop all requests to the host for that time, or,
// where it is longer than two minutes, for the rest of the run. A host that does not answer five times in a row gets
// no further request.
//
// # Addresses
//
// Only http and https are requested. Addresses that are not on the public internet are refused when a connection is
// made ([fetch.Public]), before and after redirects, unless [Options].Private allows them.
package webimages
