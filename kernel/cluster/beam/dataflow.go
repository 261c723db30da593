//go:build dataflow

package main

// With the tag dataflow the program submits to Google Cloud Dataflow (--runner dataflow), whose tables and stores are
// in Google Cloud Storage.
import (
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/dataflow"
	_ "gocloud.dev/blob/gcsblob"
)
