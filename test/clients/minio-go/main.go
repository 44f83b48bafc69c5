// Does with minio-go what the commands of mc do with it: the same calls, with the same options. Says what it found
// in lines of JSON, or what went wrong as CODE: MESSAGE.
//
// A TARGET is BUCKET or BUCKET/KEY on the server that MC_ENDPOINT, MC_ACCESS_KEY and MC_SECRET_KEY name.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

var (
	ctx    = context.Background()
	client *minio.Client

	recursive  = flag.Bool("recursive", false, "all keys below")
	incomplete = flag.Bool("incomplete", false, "uploads that have not ended")
	versions   = flag.Bool("versions", false, "with versions")
	force      = flag.Bool("force", false, "a bucket with all that is in it")
	// What a mc that asks for checksums does.
	trailers = flag.Bool("trailers", false, "checksums behind the bodies")
	md5      = flag.Bool("md5", false, "Content-MD5 with the bodies")
	attr     = flag.String("attr", "", "metadata: Name=value;Name=value")
	tagging  = flag.String("tags", "", "tags: name=value&name=value")
	partSize = flag.Uint64("part-size", 0, "octets of a part")
	offset   = flag.Int64("offset", 0, "octets to leave out")
	part     = flag.Int("part-number", 0, "a part alone")
)

var commands = map[string]func(args []string) error{
	"mb": makeBucket, "rb": removeBucket, "ls": list, "du": diskUsage, "find": find,
	"put": put, "pipe": pipe, "get": get, "cat": cat, "stat": stat, "bucket-info": bucketInfo,
	"cp": copyObject, "concat": concat, "mirror-up": mirrorUp, "mirror-down": mirrorDown,
	"tag-set": setTags, "tag-list": listTags, "tag-remove": removeTags,
	"share-download": shareDownload, "share-put": sharePut, "share-upload": shareUpload,
	"ilm-import": importLifecycle, "ilm-export": exportLifecycle,
	"anonymous-get": getPolicy, "anonymous-set-json": setPolicy, "version-enable": enableVersions,
	"rm": remove,
}

func main() {
	name := os.Args[1]
	check(flag.CommandLine.Parse(os.Args[2:]))
	at, err := url.Parse(os.Getenv("MC_ENDPOINT"))
	check(err)
	client, err = minio.New(at.Host, &minio.Options{
		Creds:           credentials.NewStaticV4(os.Getenv("MC_ACCESS_KEY"), os.Getenv("MC_SECRET_KEY"), ""),
		Secure:          at.Scheme == "https",
		TrailingHeaders: *trailers,
	})
	check(err)
	client.SetAppInfo("mc", "test")
	command, known := commands[name]
	if !known {
		check(fmt.Errorf("there is no command %q", name))
	}
	check(command(flag.Args()))
}

func check(err error) {
	if err == nil {
		return
	}
	var answer minio.ErrorResponse
	if errors.As(err, &answer) {
		fmt.Fprintf(os.Stderr, "%s: %s\n", answer.Code, answer.Message)
	} else {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(1)
}

var saying sync.Mutex

func say(what any) {
	saying.Lock()
	defer saying.Unlock()
	line, err := json.Marshal(what)
	check(err)
	fmt.Println(string(line))
}

func split(target string) (bucket, key string) {
	bucket, key, _ = strings.Cut(target, "/")
	return bucket, key
}
