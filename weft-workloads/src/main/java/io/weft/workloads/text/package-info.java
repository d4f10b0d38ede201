// SPDX-License-Identifier: Apache-2.0
/// Text for language models, and its division into windows.
@NullMarked
package io.weft.workloads.text;

import org.jspecify.annotations.NullMarked;
