package table

// Code says what kind of error the backend reports.
type Code string

// The codes that cross the wire.
const (
	CodeFailed   Code = "failed"   // the work failed: bad rows, bad files, wrong columns
	CodeUsage    Code = "usage"    // options that the model does not support, before any work
	CodeBusy     Code = "busy"     // the backend is about to end
	CodeInternal Code = "internal" // a fault of Antipode's own
)

// Error is an error of a run, as the backend reports it.
type Error struct {
	Code    Code    `json:"code"`
	Message string  `json:"message"`
	Bad     *BadRow `json:"bad,omitempty"`
}

func (e *Error) Error() string { return e.Message }
