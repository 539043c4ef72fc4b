// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/terminal/completion.hpp"
#include "cli/verbs/verb.hpp"
#include "util/file.hpp"

namespace perfgate::cli {

void add_completion(CLI::App& app, Invocation& invocation) {
    CLI::App* verb = app.add_subcommand(
        "completion", "Prints a script for shell completion of commands, options and values");
    const auto shell = std::make_shared<std::string>();
    verb->add_option("SHELL", *shell, "The shell")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh", "fish"}));
    verb->footer(
        "bash: source <(perfgate completion bash) in ~/.bashrc\n"
        "zsh:  perfgate completion zsh >~/.zfunc/_perfgate, with ~/.zfunc in fpath before "
        "compinit\n"
        "fish: perfgate completion fish >~/.config/fish/completions/perfgate.fish");
    verb->callback([&app, &invocation, shell] {
        invocation.body = [&app, shell] {
            const CompletionCommand root = completion_of(app);
            util::write_file_atomically("-", *shell == "bash"  ? bash_completion(root)
                                             : *shell == "zsh" ? zsh_completion(root)
                                                               : fish_completion(root));
            return 0;
        };
    });
}

}  // namespace perfgate::cli
