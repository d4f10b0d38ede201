// SPDX-License-Identifier: Apache-2.0
/// A parameter server: `KvWorker` for workers, `KvServer` for servers.
@NullMarked
package io.weft.kv;

import org.jspecify.annotations.NullMarked;
