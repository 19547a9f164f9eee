"""Linear layers by oneDNN, which torch has on board but uses for lower precisions only.

torch multiplies float32 matrices with MKL, which leaves out half of what a processor can do if Intel has not made it:
there oneDNN takes half the time. Numbers differ in the last bit.
"""

from __future__ import annotations

import logging

import torch

_logger = logging.getLogger(__name__)
# Of one layer's output, relative to its largest number; two orders of summation differ by far less.
_TOLERANCE = 1e-4


class _OneDnnLinear(torch.nn.Module):
    """A linear layer in float32, for inference on a CPU."""

    def __init__(self, linear: torch.nn.Linear) -> None:
        super().__init__()
        self.weight = linear.weight
        self.bias = linear.bias
        # As the kernel wants them, which spares it the work at every call.
        self._packed = torch.ops.mkldnn._reorder_linear_weight(linear.weight.detach(), None)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """Multiply rows of float32 with the weights and add the bias."""
        result: torch.Tensor = torch.ops.mkldnn._linear_pointwise(rows, self._packed, self.bias, "none", [], "")
        return result


def use_onednn(model: torch.nn.Module) -> int:
    """Replace the linear layers of a model, in place, as far as this build of torch can.

    Args:
        model: On the CPU; it must not be trained afterwards.

    Returns:
        How many were replaced.
    """
    replaced = 0
    with torch.inference_mode():
        for parent in list(model.modules()):
            for name, layer in list(parent.named_children()):
                # Of no subclass: those do more than multiply.
                if type(layer) is torch.nn.Linear and layer.weight.dtype is torch.float32:
                    try:
                        faster = _OneDnnLinear(layer)
                        is_equal = _agree(layer, faster)
                    except (RuntimeError, AttributeError, NotImplementedError) as error:
                        # The operators are torch's own, and may change with it.
                        _logger.info("linear layers stay as they are: %s", str(error).splitlines()[0])
                        return replaced
                    if is_equal:
                        setattr(parent, name, faster)
                        replaced += 1
    return replaced


def _agree(layer: torch.nn.Linear, faster: torch.nn.Module) -> bool:
    probe = torch.linspace(-1, 1, 2 * layer.in_features).view(1, 2, layer.in_features)
    expected = layer(probe)
    return bool((faster(probe) - expected).abs().max() <= _TOLERANCE * expected.abs().max())
