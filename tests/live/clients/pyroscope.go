// SPDX-License-Identifier: MIT

// A program with Pyroscope's client: ADDRESS USER PASSWORD APPLICATION VERSION SECONDS TIMES [AUTHORIZATION]; 0 times: idle
package main

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/grafana/pyroscope-go"
)

type errors struct{}

func (errors) Infof(string, ...interface{})  {}
func (errors) Debugf(string, ...interface{}) {}
func (errors) Errorf(format string, words ...interface{}) {
	fmt.Fprintf(os.Stderr, format+"\n", words...)
}

func main() {
	seconds, _ := strconv.ParseFloat(os.Args[6], 64)
	times, _ := strconv.Atoi(os.Args[7])
	hostname, _ := os.Hostname()
	config := pyroscope.Config{
		ServerAddress:     os.Args[1],
		BasicAuthUser:     os.Args[2],
		BasicAuthPassword: os.Args[3],
		ApplicationName:   os.Args[4],
		Tags:              map[string]string{"version": os.Args[5], "hostname": hostname, "region": "eu"},
	}
	config.UploadRate = time.Second
	config.Logger = errors{}
	if len(os.Args) > 8 {
		config.HTTPHeaders = map[string]string{"Authorization": os.Args[8]}
	}
	profiler, err := pyroscope.Start(config)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if times > 0 {
		run(seconds, times)
	} else {
		time.Sleep(time.Duration(seconds * float64(time.Second)))
	}
	profiler.Flush(true)
	profiler.Stop()
}
