"""The built-in models in PyTorch, with the same names of tensors. Inputs are N x C x H x W."""

import torch
import torch.nn.functional as F
from torch import nn


class Mlp(nn.Module):
    """mlp:WIDTHS"""

    def __init__(self, inputs, widths, classes):
        super().__init__()
        sizes = [inputs, *widths, classes]
        self.layers = len(sizes) - 1
        for i in range(self.layers):
            self.add_module(f"fc{i + 1}", nn.Linear(sizes[i], sizes[i + 1]))

    def forward(self, x):
        x = torch.flatten(x, 1)
        for i in range(1, self.layers):
            x = F.relu(self.get_submodule(f"fc{i}")(x))
        return F.log_softmax(self.get_submodule(f"fc{self.layers}")(x), 1)


class Mnist(nn.Module):
    """mnist: two convolutions, each pooled, rectified, then normalised"""

    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(1, 10, 5), nn.BatchNorm2d(10)
        self.conv2, self.bn2 = nn.Conv2d(10, 20, 5), nn.BatchNorm2d(20)
        self.fc1, self.fc2 = nn.Linear(320, 50), nn.Linear(50, 10)

    def forward(self, x):
        x = self.bn1(F.relu(F.max_pool2d(self.conv1(x), 2)))
        x = self.bn2(F.relu(F.max_pool2d(self.conv2(x), 2)))
        x = F.relu(self.fc1(torch.flatten(x, 1)))
        return F.log_softmax(self.fc2(x), 1)


class MnistTutorial(nn.Module):
    """mnist-tutorial, with or without its two dropouts"""

    def __init__(self, has_dropout=True):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 32, 3), nn.Conv2d(32, 64, 3)
        self.fc1, self.fc2 = nn.Linear(9216, 128), nn.Linear(128, 10)
        self.dropout1 = nn.Dropout(0.25 if has_dropout else 0)
        self.dropout2 = nn.Dropout(0.5 if has_dropout else 0)

    def forward(self, x):
        x = F.relu(self.conv2(F.relu(self.conv1(x))))
        x = self.dropout1(F.max_pool2d(x, 2))
        x = self.dropout2(F.relu(self.fc1(torch.flatten(x, 1))))
        return F.log_softmax(self.fc2(x), 1)


def make_model(spec, inputs):
    """The model that `rubato train --model spec` trains on 10 classes."""
    kind, _, settings = spec.partition(":")
    if kind == "mlp":
        return Mlp(inputs, [int(width) for width in settings.split(",")], 10)
    return {"mnist": lambda: Mnist(),
            "mnist-tutorial": lambda: MnistTutorial(settings != "dropout=0")}[kind]()
