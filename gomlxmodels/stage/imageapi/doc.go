// Package imageapi makes images with an OpenAI-compatible image API: DALL·E 3, the GPT image models, and servers
// with the same protocol.
//
//	g, err := imageapi.New(imageapi.Options{Model: "dall-e-3", Size: "1024x1024", Budget: 5})
//	estimate, err := g.Estimate(100)                  // before anything is paid
//	result, err := g.Generate(ctx, "a house in Accra")
//
// The server's address and key are the environment variables OPENAI_BASE_URL and OPENAI_API_KEY, unless [Options]
// sets others.
//
// # Outcomes and errors
//
// A prompt that moderation refuses is a result with the outcome "refused"; it is not sent again. A prompt that
// fails for another reason of its own has the outcome "failed". An error is for causes that affect every prompt:
// the key is refused, the quota or the budget is exhausted, the model is unknown, the context has ended.
//
// # Costs
//
// Each request is for one image. A request that the server certainly did not execute (429, 5xx, no connection) is
// repeated after a pause that follows Retry-After. A request that it may have executed and charged for (a timeout,
// a truncated response) is repeated at most [Options.PaidRetries] times, and counts as paid each time. A complete
// response is never requested again, whatever it contains; an image at an address is downloaded again, not made
// again.
//
// The API takes no seed: the same prompt returns another image each time, so results can be stored but not
// reproduced.
//
// # Why not openai-go
//
// The official client retries paid requests, shortens Retry-After, has no timeout, reads responses of any size and
// does not report which of these happened. One POST and two JSON objects are less code than turning that off.
package imageapi
