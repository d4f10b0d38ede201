// SPDX-License-Identifier: Apache-2.0
/// The `weft` command: what users type, and what they are told. The main thread.
@NullMarked
package io.weft.launch.cli;

import org.jspecify.annotations.NullMarked;
