// SPDX-License-Identifier: Apache-2.0
/// The `weft` command: the command line and its messages. The main thread.
@NullMarked
package io.weft.launch.cli;

import org.jspecify.annotations.NullMarked;
