// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

/// Why a shard does not do what it was asked. Its text is the worker's answer.
final class Refusal extends Exception {

  private static final long serialVersionUID = 1L;

  Refusal(String why) {
    super(why, null, false, false); // an answer, not a defect: no stack trace
  }
}
