package notebook

import "slices"

// Notebook is a notebook. Text that a file stores as a list of lines is one string.
type Notebook struct {
	Cells    []*Cell
	Metadata map[string]any
	Minor    int // of nbformat 4.Minor

	extra map[string]any // unknown fields
}

// The types of cells.
const (
	Code     = "code"
	Markdown = "markdown"
	Raw      = "raw"
)

// Cell is one cell.
type Cell struct {
	Type           string // Code, Markdown or Raw
	ID             string // unique in the notebook; empty before nbformat 4.5
	Source         string
	Metadata       map[string]any
	Outputs        []*Output // of a code cell
	ExecutionCount int       // of a code cell; 0 = not executed

	extra map[string]any // attachments among them
}

// The types of outputs.
const (
	Stream        = "stream"
	DisplayData   = "display_data"
	ExecuteResult = "execute_result"
	Error         = "error"
)

// Output is one output of a code cell; which fields are used depends on its Type.
type Output struct {
	Type string

	Name string // Stream: "stdout" or "stderr"
	Text string // Stream

	Data           map[string]any // DisplayData, ExecuteResult: by MIME type, text as one string
	Metadata       map[string]any // DisplayData, ExecuteResult
	ExecutionCount int            // ExecuteResult

	ErrorName  string   // Error
	ErrorValue string   // Error
	Traceback  []string // Error

	extra map[string]any
}

// Tags lists the cell's tags.
func (c *Cell) Tags() []string {
	list, _ := c.Metadata["tags"].([]any)
	var tags []string
	for _, t := range list {
		if s, ok := t.(string); ok {
			tags = append(tags, s)
		}
	}
	return tags
}

// Tagged reports whether the cell has the tag.
func (c *Cell) Tagged(tag string) bool { return slices.Contains(c.Tags(), tag) }
