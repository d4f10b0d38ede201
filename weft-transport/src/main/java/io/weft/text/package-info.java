// SPDX-License-Identifier: Apache-2.0
/// Text that came from others, made fit to be shown to people. Pure; any thread.
@NullMarked
package io.weft.text;

import org.jspecify.annotations.NullMarked;
