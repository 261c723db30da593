// Package imageapi makes pictures with an OpenAI-compatible image API: DALL·E 3, the GPT image models, and servers that speak alike.
//
//	g, err := imageapi.New(imageapi.Options{Model: "dall-e-3", Size: "1024x1024", Budget: 5})
//	estimate, err := g.Estimate(100)                  // before anything is paid
//	result, err := g.Generate(ctx, "a house in Accra")
//
// The server's address and key are those of the environment, OPENAI_BASE_URL and OPENAI_API_KEY, unless [Options] gives others.
//
// # Outcomes and errors
//
// A prompt that moderation refuses is a result with the outcome "refused", and is never sent again. A prompt that got no picture for
// another reason of its own is one with the outcome "failed". An error is for what would befall any prompt: the key is refused, the
// quota or the budget is used up, the model is unknown, the context has ended.
//
// # What is paid
//
// One request asks for one picture. What the server certainly did not do (429, 5xx, no connection) is asked again after a pause that
// honours Retry-After. What it may have done, and charged for (a time-out, an answer cut off), is asked again at most
// [Options.PaidRetries] times, and counts as paid each time. An answer that is whole is never asked for again, whatever it holds; a
// picture behind an address is fetched again, not made again.
//
// The API takes no seed: the same prompt gives another picture each time, so results can be kept but not made again.
//
// # Why not openai-go
//
// The official client retries paid requests by itself, cuts Retry-After short, waits forever, reads answers of any size and hides
// which of these happened. What is left of it, one POST and two JSON objects, is less than what it would take to turn that off.
package imageapi
