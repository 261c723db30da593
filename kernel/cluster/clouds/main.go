// Clouds is the antipode command with object storage: Amazon S3 (s3://), Google Cloud Storage (gs://) and Azure Blob
// Storage (az://). It is a module of its own: the command itself links none of their drivers.
package main

import (
	"errors"
	"net/http"
	"os"
	"strings"

	"cloud.google.com/go/storage"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"gocloud.dev/blob"
	_ "gocloud.dev/blob/azureblob"
	_ "gocloud.dev/blob/gcsblob"
	"google.golang.org/api/googleapi"

	"antipode/kernel/backend/remote/cloud"
	"antipode/kernel/commands"
)

func main() {
	cloud.Use(cloud.Service{Prepare: prepare, Answer: answer})
	os.Exit(commands.Main(os.Args[1:]))
}

// prepare lets the client of Google try a request once: package remote tries again, and gives up after five tries.
func prepare(b *blob.Bucket) {
	var client *storage.Client
	if b.As(&client) {
		client.SetRetry(storage.WithPolicy(storage.RetryNever))
	}
}

// answer returns the HTTP status and the error code of an answer.
func answer(err error) (status int, code string) {
	var azure *azcore.ResponseError
	var google *googleapi.Error
	switch {
	case errors.As(err, &azure):
		return azure.StatusCode, azure.ErrorCode
	case errors.As(err, &google):
		status = google.Code
		if len(google.Errors) > 0 {
			code = google.Errors[0].Reason
		}
	}
	if status == 0 && err != nil && strings.Contains(err.Error(), "private key should be a PEM") {
		return http.StatusUnauthorized, "NoCredentials" // package gcsblob makes up a key where it finds none
	}
	return status, code
}
