// Package apimodel requests images and answers from servers with OpenAI's protocol: images of the GPT image models
// ([Models]) and of other servers, answers of chat models to questions about images ([Client.Ask]). A server may be on
// this machine, for example llama.cpp or vLLM.
//
//	g, err := apimodel.New(apimodel.Options{Model: "gpt-image-2", Size: "1024x1024", Quality: "high", Budget: 5})
//	estimate, err := g.Estimate(100)                  // before anything is paid
//	result, err := g.Generate(ctx, "a house in Accra")
//
// The server's address and key are the caller's; no environment variable is read here, because a backend serves clients
// with other environments than its own.
//
// # Outcomes and errors
//
// A prompt that moderation refuses is a result with the outcome "refused"; it is not sent again. A prompt that
// fails for another reason of its own has the outcome "failed"; both hold for questions too. An error is for causes
// that affect every prompt: the key is refused, the quota or the budget is exhausted, the model is unknown or was shut
// down, the context has ended.
//
// # Models that were shut down
//
// Before its first request for an image a [Client] gets the server's list of models, once and free of charge. A
// model that is not in the list, or whose shutdown_date is over, is an error; one that will be shut down within 60 days
// is a warning. A server without such a list is not checked. DALL·E 2 and 3 (2026-05-12), gpt-image-1 and its
// successors before gpt-image-2 are historical: OpenAI no longer has them, but a server at another address may.
//
// # Costs
//
// The cost of an image is that of the tokens that its answer counts, by the prices of [Models], which have a date.
// Without a count it is the price of an image: [Options].Price, or what the tokens of the size and quality cost, where
// their number is known. Otherwise it is unknown, and only a budget in images can be kept.
//
// Each request is for one image. A request that the server certainly did not execute (429, 5xx, no connection) is
// repeated after a pause that follows Retry-After. A request that it may have executed and charged for (a timeout,
// a truncated response) is repeated at most [Options.PaidRetries] times, and counts as paid each time. A complete
// response is never requested again, whatever it contains; an image at an address is downloaded again, not made
// again.
//
// OpenAI's API takes no seed: the same prompt returns another image each time, so results can be stored but not
// reproduced. Other servers take a seed, and more, as further fields of [Client.Generate].
//
// # Questions
//
// A question is one request to chat/completions with the image as a PNG in a data URI. The log-probabilities of the
// answer's tokens are requested; [Reply].Tokens has them where the server offers them. An optional field that a server
// refuses (log-probabilities, temperature, seed, max_tokens) is left out, with a warning.
//
// # Why not openai-go
//
// The official client retries paid requests, shortens Retry-After, has no timeout, reads responses of any size and
// does not report which of these happened. One POST and two JSON objects are less code than turning that off.
package apimodel
